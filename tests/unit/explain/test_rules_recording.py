"""CONF6xx and REC7xx, with exact numbers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from gapless.conf import Release
from gapless.explain import ExplainOptions, explain
from gapless.explain.finding import Finding
from gapless.recording import OpenOptions, Recording, open_recordings
from tests.unit.explain.diary import GIB, MIB, Diary, at
from tests.unit.explain.programs import build, train


def found(recording: Recording, **options: Any) -> dict[str, Finding]:
    return {finding.code: finding for finding in explain(recording, ExplainOptions(**options)).findings}


@pytest.fixture
def diary() -> Diary:
    """Four weights, then three steps of training."""
    diary = Diary(capacity_bytes=8 * GIB)
    build(diary)
    train(diary, [60 * MIB] * 3)
    return diary


def weights_event(diary: Diary) -> int:
    """The event after the last weight."""
    return max(n for n, event in enumerate(diary.events[:10]) if event["size"] == 40 * MIB) + 1


def test_whole_recording_has_no_doubts(diary: Diary, tmp_path: Path) -> None:
    assert [code for code in found(diary.open(tmp_path)) if code.startswith("REC")] == []


def test_settings_that_do_nothing_are_warned_of(diary: Diary, tmp_path: Path) -> None:
    diary.conf = "garbage_collection_threshold:0.8"
    diary.configure(garbage_collection_threshold=0.8)

    finding = found(diary.open(tmp_path))["CONF609"]

    assert finding.severity == "warning"
    assert finding.measurements == {"garbage_collection_threshold": 0.8}


def test_settings_that_are_right_are_not_spoken_of(diary: Diary, tmp_path: Path) -> None:
    diary.conf = "max_split_size_mb:512"
    diary.configure(max_split_size=512 * MIB)

    assert not [code for code in found(diary.open(tmp_path)) if code.startswith("CONF")]


def test_late_start_is_counted(diary: Diary, tmp_path: Path) -> None:
    diary.drop(weights_event(diary))

    finding = found(diary.open(tmp_path), at="end")["REC701"]

    assert finding.bytes == 160 * MIB
    assert finding.severity == "warning"
    assert finding.measurements == {
        "before_bytes": 160 * MIB,
        "before_blocks": 4,
        "before_reserved_bytes": 160 * MIB,
        "unknown_place_bytes": 160 * MIB,
    }


def test_full_ring_is_told_by_frames_without_an_event(diary: Diary, tmp_path: Path) -> None:
    diary.drop(weights_event(diary), forget_frames=False)

    codes = found(diary.open(tmp_path))

    assert codes["REC702"].measurements == {
        "lost_blocks": 4,
        "lost_bytes": 160 * MIB,
        "events": len(diary.events),
    }
    assert codes["REC701"].severity == "info"


def test_a_single_event_is_no_history_that_began_late(diary: Diary, tmp_path: Path) -> None:
    diary.drop(len(diary.events) - 1)

    codes = set(found(diary.open(tmp_path)))

    assert "REC706" in codes
    assert "REC701" not in codes


def test_late_start_is_no_full_ring(diary: Diary, tmp_path: Path) -> None:
    diary.drop(weights_event(diary))

    assert "REC702" not in found(diary.open(tmp_path))


def test_file_written_after_unwinding_shows_the_failure_all_the_same(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 900 * MIB, at("train.py", 3))
    diary.malloc("b", 300 * MIB, at("train.py", 4))
    diary.free("a")

    explanation = explain(diary.open(tmp_path))

    assert explanation.verdict.code == "OOM101"
    assert explanation.facts.active_bytes == 900 * MIB
    (finding,) = (finding for finding in explanation.findings if finding.code == "REC703")
    assert finding.measurements == {
        "events_after": 2,
        "active_bytes_at_failure": 900 * MIB,
        "active_bytes_at_end": 0,
        "reserved_bytes_at_end": 900 * MIB,
    }


def test_a_program_that_caught_its_failure_is_said_to_have_gone_on(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 900 * MIB, at("train.py", 3))
    diary.malloc("b", 300 * MIB, at("train.py", 4))
    diary.free("a")
    diary.malloc("c", 200 * MIB, at("train.py", 5))

    (finding,) = (one for one in explain(diary.open(tmp_path)).findings if one.code == "REC703")

    assert finding.message.endswith(" The program caught the failure and went on for 1 allocation.")


def test_file_written_at_the_failure_is_not_after_unwinding(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 900 * MIB)
    diary.malloc("b", 300 * MIB)

    assert "REC703" not in found(diary.open(tmp_path))


def test_contradictions_and_times_that_run_backwards(diary: Diary, tmp_path: Path) -> None:
    del diary.events[40:60]
    diary.events[5]["time_us"], diary.events[6]["time_us"] = diary.events[6]["time_us"], diary.events[5]["time_us"]

    finding = found(diary.open(tmp_path))["REC704"]

    assert finding.measurements["times_backwards"] == 1
    assert finding.measurements["contradictions"] == pytest.approx(10, abs=10)
    assert finding.measurements["contradictions"]
    assert finding.message.startswith("The recording contradicts itself: ")


def test_a_file_without_segments_is_judged_by_its_events(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 900 * MIB)
    diary.malloc("b", 300 * MIB)
    file = diary.snapshot()
    file["segments"] = []
    path = tmp_path / "bare.pickle"
    path.write_bytes(pickle.dumps(file))

    explanation = explain(open_recordings(str(path))[0])

    assert (explanation.verdict.code, explanation.verdict.confidence) == ("OOM101", "unsure")
    assert (explanation.facts.capacity_bytes, explanation.facts.reserved_bytes) == (1 * GIB, 900 * MIB)
    replayed = explanation.to_json()["replay"]
    assert replayed["events_matching"] == replayed["events_checked"]
    assert replayed["exact"] is False  # although each event is repeated: they contradict the file


def test_allocations_without_segments_leave_the_cache_unknown_and_not_negative(tmp_path: Path) -> None:
    names = ("action", "addr", "size", "stream")
    rows = [("alloc", (1 << 40) + number * 50 * MIB, 50 * MIB, 0) for number in range(3)]
    path = tmp_path / "no_segments.pickle"
    path.write_bytes(
        pickle.dumps({"segments": [], "device_traces": [[dict(zip(names, row, strict=True)) for row in rows]]})
    )
    (recording,) = open_recordings(str(path))

    verdict, findings = explain(recording).verdict, explain(recording).findings

    assert (verdict.code, verdict.confidence) == ("OK000", "unsure")
    assert "-" not in verdict.why
    assert verdict.why.startswith("More in use than reserved cannot be")
    assert findings[0].measurements["cached_bytes"] == 0
    assert "REC704" in {finding.code for finding in findings}


def test_recording_under_other_settings_is_not_exact(diary: Diary, tmp_path: Path) -> None:
    options = OpenOptions(conf="max_split_size_mb:21", release=Release(2, 14))

    codes = found(diary.open(tmp_path, options))

    check = codes["REC705"].measurements
    assert check["events_checked"] == 109
    assert 0 < int(check["events_matching"] or 0) < 109


def test_snapshot_without_events(diary: Diary, tmp_path: Path) -> None:
    diary.events.clear()

    codes = found(diary.open(tmp_path))

    assert codes["REC706"].measurements == {
        "events": 0,
        "active_bytes": 480 * MIB,
        "reserved_bytes": 840 * MIB,
    }
    assert codes["OK000"].name == "nothing-wrong"


def test_recording_without_stacks(tmp_path: Path) -> None:
    diary = Diary()
    for number in range(20):
        diary.malloc(f"t{number}", 10 * MIB)

    finding = found(diary.open(tmp_path))["REC707"]

    assert finding.measurements == {
        "allocations": 20,
        "share_with_stack": 0.0,
        "unknown_place_bytes": 200 * MIB,
    }


def test_one_stack_in_twenty_is_enough(tmp_path: Path) -> None:
    diary = Diary()
    for number in range(20):
        diary.malloc(f"t{number}", 10 * MIB, at("train.py", 1) if number == 3 else None)

    assert "REC707" not in found(diary.open(tmp_path))


def test_device_without_anything_is_explained(tmp_path: Path) -> None:
    assert open_recordings(str(Diary().write(tmp_path / "empty.pickle"))) == []


def test_a_file_without_segments_tells_of_no_memory(diary: Diary, tmp_path: Path) -> None:
    for number in range(7):
        diary.malloc(("whole", number), 1 * GIB)
        diary.free(("whole", number))
        diary.malloc(("half", number), 512 * MIB)
        diary.malloc(("other", number), 100 * MIB)
        diary.free(("half", number))
    diary.malloc("too much", 2 * GIB)
    value = pickle.loads(diary.write(tmp_path / "whole.pickle").read_bytes())
    (tmp_path / "cut.pickle").write_bytes(pickle.dumps({**value, "segments": []}, protocol=4))
    (recording,) = open_recordings(str(tmp_path / "cut.pickle"))

    explanation = explain(recording)

    assert explanation.verdict.code == "REC704"
    assert explanation.verdict.message.startswith("The file holds no segments, although ")
    assert {finding.code[:3] for finding in explanation.findings} <= {"REC", "CON"}
