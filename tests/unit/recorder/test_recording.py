"""What is written when something happens: the capsule first, then the snapshot, unless it has cost too much already."""

from __future__ import annotations

import json
import os
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from gapless.recorder import recording as module
from gapless.recorder.failure import Failure
from gapless.recorder.options import Options
from gapless.recorder.recording import Occasion, Recording
from tests.schemas import validate
from tests.unit.recorder.fake_torch import GIB, FakeTorch

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")


def capsule_in(folder: Path) -> dict[str, Any]:
    capsule: dict[str, Any] = json.loads((folder / "rank0.capsule.json").read_text())
    validate(capsule)
    return capsule


def test_events_are_bounded_and_have_stacks_of_python(tmp_path: Path) -> None:
    torch = FakeTorch()
    recording = Recording(torch, Options(str(tmp_path), max_events=77))

    assert recording.recorder == "gapless"
    assert torch.recorded == [("all", {"stacks": "python", "max_entries": 77})]


def test_a_program_that_records_itself_is_left_alone(tmp_path: Path) -> None:
    torch = FakeTorch()
    torch.is_recorded = True
    recording = Recording(torch, Options(str(tmp_path)))
    recording.occasion(Occasion("exit"))
    recording.stop(process_ends=False)

    assert capsule_in(tmp_path)["recorder"] == "program"
    assert torch.recorded == []


def test_an_allocator_without_history_leaves_numbers(tmp_path: Path) -> None:
    torch = FakeTorch()
    torch.cuda.memory.get_allocator_backend = lambda: "cudaMallocAsync"
    recording = Recording(torch, Options(str(tmp_path)))
    recording.occasion(Occasion("exit"))

    assert capsule_in(tmp_path)["recorder"] == "nobody"
    assert capsule_in(tmp_path)["backend"] == "cudaMallocAsync"


def test_the_capsule_is_there_before_the_snapshot_is_taken(tmp_path: Path) -> None:
    torch = FakeTorch()
    seen: list[dict[str, Any]] = []
    torch.takes = lambda: seen.append(capsule_in(tmp_path))
    recording = Recording(torch, Options(str(tmp_path)))
    recording.out_of_memory(0, 2 * GIB, 4 * GIB, GIB)
    after = capsule_in(tmp_path)

    assert [one["snapshot"]["note"] for one in seen] == ["not written yet"]
    assert seen[0]["failure"]["requested_bytes"] == 2 * GIB
    assert (after["reason"], after["rank"], after["settings"]) == ("out_of_memory", 0, "expandable_segments:True")
    assert after["snapshot"]["path"] == "rank0.pickle"
    assert after["devices"][0]["free_block_bytes_largest"] == 7
    assert any("test_recording.py" in line for line in after["stack"])


def test_a_snapshot_of_a_failure_is_not_replaced_by_one_of_the_end(tmp_path: Path) -> None:
    torch = FakeTorch()
    recording = Recording(torch, Options(str(tmp_path)))
    recording.occasion(Occasion("out_of_memory"))
    torch.traces = [[]]
    for reason in ("threshold", "exit"):
        recording.occasion(Occasion(reason))

    assert capsule_in(tmp_path)["reason"] == "out_of_memory"
    assert len(pickle.loads((tmp_path / "rank0.pickle").read_bytes())["device_traces"][0]) == 10


def test_a_later_failure_replaces_an_earlier_one(tmp_path: Path) -> None:
    torch = FakeTorch()
    recording = Recording(torch, Options(str(tmp_path)))
    for reason in ("threshold", "out_of_memory", "library_out_of_memory"):
        recording.occasion(Occasion(reason, Failure("E", reason)))
    capsule = capsule_in(tmp_path)

    assert capsule["reason"] == "library_out_of_memory"
    assert [one["reason"] for one in capsule["earlier"]] == ["threshold", "out_of_memory"]


def test_a_program_that_fails_all_the_time_is_not_held_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    torch = FakeTorch()
    taken: list[float] = []

    def take() -> None:
        taken.append(now[0])
        now[0] += 1  # second for each snapshot

    torch.takes = take
    recording = Recording(torch, Options(str(tmp_path)))
    for _ in range(200):
        now[0] += 1
        recording.occasion(Occasion("out_of_memory"))

    assert taken == [1, 3, 5, 150, 200], "the first three, then no more than a fiftieth of the time"
    assert capsule_in(tmp_path)["snapshot"]["note"] == "not written: 5.0 of 205.0 s went into writing already"
    recording.occasion(Occasion("out_of_memory", ends_program=True))
    assert len(taken) == 6, "what ends the program is written"


def test_nothing_is_raised_where_nothing_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = Recording(FakeTorch(), Options(str(tmp_path / "gone")))
    for path in (tmp_path / "gone").iterdir():
        path.unlink()
    (tmp_path / "gone").rmdir()
    for _ in range(3):
        recording.occasion(Occasion("out_of_memory"))

    assert recording.has_unwritten_failure, "it is tried again when the program ends"
    assert capsys.readouterr().err.splitlines() == [
        f"gapless: what was recorded cannot be written to {tmp_path / 'gone'}: No such file or directory; "
        "the program goes on"
    ]


def test_a_snapshot_that_fails_is_noted_in_the_capsule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch = FakeTorch()

    def fail() -> None:
        raise RuntimeError("no snapshot today")

    torch.takes = fail
    recording = Recording(torch, Options(str(tmp_path)))
    recording.occasion(Occasion("out_of_memory"))

    assert capsule_in(tmp_path)["snapshot"]["note"] == "not written: RuntimeError: no snapshot today"
    assert recording.has_unwritten_failure
    assert "no snapshot today; the program goes on" in capsys.readouterr().err


def test_an_occasion_within_another_is_passed_over(tmp_path: Path) -> None:
    torch = FakeTorch()
    recording = Recording(torch, Options(str(tmp_path)))
    torch.takes = lambda: recording.occasion(Occasion("signal"))
    recording.occasion(Occasion("out_of_memory"))

    assert capsule_in(tmp_path)["reason"] == "out_of_memory"
    assert capsule_in(tmp_path)["earlier"] == []


def test_a_child_of_the_process_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = Recording(FakeTorch(), Options(str(tmp_path)))
    monkeypatch.setattr(os, "getpid", lambda: recording.pid + 1)
    recording.occasion(Occasion("out_of_memory"))

    assert not (tmp_path / "rank0.capsule.json").exists()


def test_expected_events_are_those_since_recording_began(tmp_path: Path) -> None:
    torch = FakeTorch()
    torch.allocations = 5_000_000  # before
    recording = Recording(torch, Options(str(tmp_path), snapshot_seconds=1))
    torch.allocations += 10
    recording.occasion(Occasion("exit"))

    assert capsule_in(tmp_path)["snapshot"]["path"] == "rank0.pickle"


def test_history_is_left_where_the_process_ends(tmp_path: Path) -> None:
    torch = FakeTorch()
    Recording(torch, Options(str(tmp_path))).stop(process_ends=True)
    assert torch.is_recorded

    Recording(torch := FakeTorch(), Options(str(tmp_path))).stop(process_ends=False)
    assert not torch.is_recorded
