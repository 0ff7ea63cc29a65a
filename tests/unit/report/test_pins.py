"""What pins segments, line by line."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from gapless.explain import explain
from gapless.report.pins import pins_to_text
from gapless.report.terminal import Terminal
from tests.unit.explain.diary import GIB, MIB, Diary, at
from tests.unit.explain.programs import build, train

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gapless.recording import Recording


def pin(diary: Diary, lines: Sequence[int]) -> None:
    """Segments of 100 MiB, each kept by 20 MiB of a line, then a request that finds no hole."""
    for number in range(len(lines)):
        diary.malloc(f"segment{number}", 100 * MIB)
    for number in range(len(lines)):
        diary.free(f"segment{number}")
    for number, line in enumerate(lines):
        diary.malloc(f"pin{number}", 20 * MIB, at("train.py", line, "train"))
        diary.malloc(f"rest{number}", 80 * MIB)
    for number in range(len(lines)):
        diary.free(f"rest{number}")
    diary.malloc("batch", 1 * GIB, at("train.py", 99))


def written(recording: Recording) -> list[str]:
    explanation, stream = explain(recording), io.StringIO()
    assert explanation.verdict.code == "FRAG201"
    pins_to_text(explanation.case.pinned, Terminal(stream))
    return stream.getvalue().splitlines()


def test_each_place_has_a_line_with_its_oldest_block(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=2 * GIB)
    pin(diary, [7] * 9 + [8] + [7] * 5)
    born = [n for n, event in enumerate(diary.events) if event["action"] == "alloc" and event["size"] == 20 * MIB]

    assert written(diary.open(tmp_path)) == [
        "",
        "What pins the segments",
        f"  14 blocks in 14 segments, 1.09 GiB free  since event {born[0]}  train.py:7 train",
        f"    1 block in 1 segment, 80.00 MiB free   since event {born[9]}  train.py:8 train",
    ]


def test_where_a_line_is_too_short_places_have_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    diary = Diary(capacity_bytes=2 * GIB)
    pin(diary, [7] * 9 + [8] + [7] * 5)
    monkeypatch.setenv("COLUMNS", "70")

    lines = written(diary.open(tmp_path))

    assert [line.split(", ")[0] for line in lines[2:]] == [
        "  14 blocks in 14 segments",
        "            train.py:7 train",
        "    1 block in 1 segment",
        "            train.py:8 train",
    ]


def test_places_beyond_the_lines_are_counted(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=2 * GIB)
    pin(diary, [*range(1, 8)] * 2)

    lines = written(diary.open(tmp_path))

    assert [line.split("train.py:")[-1] for line in lines[2:-1]] == [f"{line} train" for line in range(1, 6)]
    assert lines[-1] == "  blocks at 2 more places"


def test_blocks_from_before_the_recording_have_no_age(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=2 * GIB)
    pin(diary, [7] * 14)
    first = next(n for n, event in enumerate(diary.events) if event["action"] == "alloc" and event["size"] == 20 * MIB)
    diary.drop(first + 1, forget_frames=False)

    assert written(diary.open(tmp_path))[2:] == [
        "  14 blocks in 14 segments, 1.09 GiB free  from before the recording  train.py:7 train"
    ]


def test_age_is_told_in_steps_where_there_are_some(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=4 * GIB)
    build(diary)
    train(diary, [60 * MIB] * 2)
    pin(diary, [7] * 14)
    diary.events.pop()  # the request that fails comes later
    train(diary, [60 * MIB] * 3)
    diary.malloc("batch", 2 * GIB, at("train.py", 99))

    lines = written(diary.open(tmp_path))

    assert [line for line in lines if "train.py:7 " in line and " (3 steps)" in line]
