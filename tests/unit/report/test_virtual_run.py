"""How far a run on the pretend card is to be trusted, as what it rests on says."""

from __future__ import annotations

from typing import Any

import pytest

from gapless.report.virtual_run import RanProcess
from gapless.tune import Grade


def ran(*kinds: str, libraries: tuple[str, ...] = ("libtorch_cuda.so",), world: int | None = None) -> RanProcess:
    """A process with assumptions of these kinds."""
    facts: dict[str, Any] = {
        "assumptions": [{"kind": kind} for kind in kinds],
        "kernel_libraries": dict.fromkeys(libraries, 1),
        "world": world,
    }
    return RanProcess(facts, [])


def test_what_rests_on_pytorch_alone_is_proved() -> None:
    assert (ran().grade, ran().doubts) == (Grade.PROVED, [])


@pytest.mark.parametrize(
    ("process", "doubt"),
    [
        (ran("size", "size"), "sizes depend on values that are not known"),
        (ran("branch"), "a branch depends on values that are not known"),
        (ran("value"), "values were read that nothing computed"),
        (ran("message"), "another rank would have sent something"),
        (ran(libraries=("libflash.so", "libc10_cuda.so")), "libflash.so may choose sizes by what they compute"),
    ],
)
def test_each_doubt_is_named(process: RanProcess, doubt: str) -> None:
    assert process.grade is Grade.MODELLED
    assert process.doubts == [doubt]


def test_a_rank_alone_is_modelled() -> None:
    assert ran(world=256).grade is Grade.MODELLED
