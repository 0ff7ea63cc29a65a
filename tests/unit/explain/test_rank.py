"""The row of a rank: what was allocated is not what was asked for in vain."""

from __future__ import annotations

from pathlib import Path

from gapless.explain import explain
from gapless.explain.rank import rank_of_recording
from tests.unit.explain.diary import GIB, MIB, Diary


def test_a_request_that_failed_was_never_allocated(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 900 * MIB)
    diary.malloc("b", 300 * MIB)

    rank = rank_of_recording(explain(diary.open(tmp_path)))

    assert (rank.allocated_bytes_peak, rank.needed_bytes_peak) == (900 * MIB, 1200 * MIB)
