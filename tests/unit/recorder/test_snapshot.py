"""Writing the snapshot within a time."""

from __future__ import annotations

import gc
import pickle
import time
from typing import TYPE_CHECKING

import pytest

from gapless.recorder.files import SNAPSHOT, Files
from gapless.recorder.snapshot import Pace, write_snapshot
from tests.unit.recorder.fake_torch import FakeTorch

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(str(tmp_path), "rank0")


def sizes_in(files: Files) -> list[list[int]]:
    snapshot = pickle.loads(files.path(SNAPSHOT).read_bytes())
    return [[event["size"] for event in trace] for trace in snapshot["device_traces"]]


def test_all_of_it_is_written_where_there_is_time(files: Files) -> None:
    written = write_snapshot(FakeTorch(events=3), files, 3, 60, Pace())

    assert (written.path, written.events, written.note) == ("rank0.pickle", 3, "")
    assert sizes_in(files) == [[0, 1, 2]]


def test_none_is_taken_where_taking_it_would_be_too_long(files: Files) -> None:
    torch = FakeTorch()
    torch.takes = lambda: pytest.fail("it must not be taken")
    written = write_snapshot(torch, files, 1_000_000, 5, Pace(take_seconds=6e-6, write_seconds=2e-6))

    assert written.path is None
    assert written.note == "not written: 1000000 events would take about 8.0 s, more than 5 s"
    assert not files.path(SNAPSHOT).exists()


def test_the_last_events_of_each_device_are_written_where_time_is_short(files: Files) -> None:
    torch = FakeTorch(devices=2, events=100)
    torch.takes = lambda: time.sleep(0.1)
    # 0.5 s are left, and one event takes 10 ms: 45 to 50 of 200.
    written = write_snapshot(torch, files, 200, 0.6, Pace(take_seconds=0, write_seconds=0.01))
    first, second = sizes_in(files)

    assert 35 <= written.events <= 50
    assert len(first) == len(second)
    assert first[-1] == 99
    assert written.note.startswith("the last ")
    assert " of 200 events" in written.note


def test_pace_is_learnt_from_what_was_written(files: Files) -> None:
    pace = Pace(take_seconds=0, write_seconds=0)
    torch = FakeTorch(events=2000)
    torch.takes = lambda: time.sleep(0.1)
    pace.write_seconds = 1e-9
    write_snapshot(torch, files, 2000, 60, pace)

    assert 5e-5 <= pace.take_seconds < 5e-4
    assert pace.write_seconds != 1e-9


def test_a_failure_leaves_no_file_and_collection_as_it_was(files: Files) -> None:
    torch = FakeTorch()

    def fail() -> None:
        assert not gc.isenabled()
        raise RuntimeError("no snapshot today")

    torch.takes = fail
    with pytest.raises(RuntimeError, match="no snapshot today"):
        write_snapshot(torch, files, 1, 60, Pace())

    assert gc.isenabled()
    assert not files.path(SNAPSHOT).exists()
