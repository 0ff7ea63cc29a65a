"""What is said of the memory in use where kinds are not known: the place that holds most, and what has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gapless.explain import explain
from gapless.explain.words import what_is_in_use
from tests.unit.explain.diary import GIB, MIB, Diary, Frames, at

if TYPE_CHECKING:
    from pathlib import Path

NATIVE: Frames = [("Blas.cpp", 0, "at::native::addmm_out_cuda_impl(at::Tensor&)")]


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        ([(40, at("a.py", 1)), (20, at("b.py", 2))], "The largest part, 40.00 MiB, was allocated at a.py:1."),
        ([(40, at("a.py", 1)), (20, at("a.py", 1))], "All that is in use was allocated at a.py:1."),
        (
            [(40, None), (20, at("a.py", 1)), (24, None)],
            "64.00 MiB in use have no stack recorded; the largest part with one, 20.00 MiB, was allocated at a.py:1.",
        ),
        ([(20, None), (40, at("a.py", 1))], "The largest part, 40.00 MiB, was allocated at a.py:1."),
        ([(20, None), (40, None)], ""),
        (
            [(40, NATIVE), (20, at("a.py", 1))],
            "The largest part, 40.00 MiB, was allocated in Blas.cpp, with no line of Python recorded.",
        ),
    ],
)
def test_the_largest_part_is_the_largest(
    tmp_path: Path, blocks: list[tuple[int, Frames | None]], sentence: str
) -> None:
    diary = Diary(capacity_bytes=8 * GIB)
    for number, (size, frames) in enumerate(blocks):
        diary.need(str(number), size * MIB, frames)

    assert what_is_in_use(explain(diary.open(tmp_path)).case) == sentence
