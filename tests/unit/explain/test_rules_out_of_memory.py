"""OOM101 to OOM104 and OK000, with exact numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.explain import ExplainOptions, explain
from tests.unit.explain.diary import GIB, KIB, MIB, Diary, at


@pytest.fixture
def full(tmp_path: Path) -> Diary:
    """A card of 1 GiB with 960 MiB in use, on which 128 MiB are asked for."""
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 960 * MIB, at("train.py", 3))
    diary.malloc("b", 128 * MIB, at("train.py", 4))
    return diary


def test_capacity_says_how_much_is_missing(full: Diary, tmp_path: Path) -> None:
    explanation = explain(full.open(tmp_path))

    finding = explanation.findings[0]
    assert explanation.verdict.code == finding.code == "OOM101"
    assert finding.bytes == 64 * MIB
    assert finding.measurements == {
        "rounded_bytes": 128 * MIB,
        "active_bytes": 960 * MIB,
        "limit_bytes": 1 * GIB,
        "in_use_share": 0.9375,
        "cached_bytes": 0,
        "room_bytes": 64 * MIB,
        "free_in_sum_bytes": 64 * MIB,
        "missing_bytes": 64 * MIB,
    }
    assert finding.message == (
        "The request for 128.00 MiB at train.py:4 failed because the memory is in use: 960.00 MiB of the 1.00 GiB that"
        " PyTorch could have (94 %)."
    )
    assert explanation.verdict.confidence == "certain"
    assert "No allocator setting helps" in explanation.verdict.what_to_do


def test_facts_are_those_before_the_failing_event(full: Diary, tmp_path: Path) -> None:
    recording = full.open(tmp_path)

    facts = explain(recording).to_json()["state"]

    assert facts == {
        "at": "oom",
        "event": 2,
        "limit_bytes": None,
        "limit_bytes_most": None,
        "capacity_bytes": 1 * GIB,
        "device_free_bytes": 64 * MIB,
        "requested_bytes": 128 * MIB,
        "rounded_bytes": 128 * MIB,
        "segment_bytes": 128 * MIB,
        "allocated_bytes": 960 * MIB,
        "active_bytes": 960 * MIB,
        "reserved_bytes": 960 * MIB,
        "free_bytes": 0,
        "largest_free_block_bytes": 0,
        "pending_bytes": 0,
        "private_pool_free_bytes": 0,
        "replayed_on_bytes": None,
    }


def test_more_than_95_percent_in_use_is_capacity_even_if_the_pieces_suffice(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    for number in range(24):  # 24 segments of 40 MiB, each with a hole of 1.5 MiB
        diary.malloc(f"low{number}", 1536 * KIB)
        diary.malloc(f"fill{number}", 18 * MIB + 512 * KIB)
    assert diary.malloc("rest", 500 * MIB)
    diary.free("low0", "low1", "low2")

    assert not diary.malloc("last", 46 * MIB)
    explanation = explain(diary.open(tmp_path))

    finding = explanation.findings[0]
    assert finding.code == "OOM101"
    assert finding.measurements["in_use_share"] == pytest.approx(0.9526, abs=0.0001)


def test_request_larger_than_card(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("weights", 100 * MIB)
    diary.malloc("scores", 2 * GIB, at("attention.py", 9))

    explanation = explain(diary.open(tmp_path))

    finding = explanation.findings[0]
    assert explanation.verdict.code == finding.code == "OOM102"
    assert finding.bytes == 1 * GIB
    assert finding.measurements == {
        "rounded_bytes": 2 * GIB,
        "segment_bytes": 2 * GIB,
        "limit_bytes": 1 * GIB,
    }
    assert finding.places == ((("attention.py", 9, "<module>"),),)


def test_request_as_large_as_the_card_is_not_larger(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("weights", 100 * MIB)
    diary.malloc("cache", 1 * GIB)

    assert explain(diary.open(tmp_path)).verdict.code == "OOM101"


def test_memory_limit_is_told_by_the_room_that_the_card_had(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=4 * GIB)
    diary.allocator.set_memory_fraction(0.25)
    diary.malloc("a", 900 * MIB)
    diary.malloc("b", 300 * MIB)

    explanation = explain(diary.open(tmp_path))

    finding = explanation.findings[0]
    assert explanation.verdict.code == finding.code == "OOM103"
    assert explanation.verdict.confidence == "certain"
    assert finding.measurements == {
        "rounded_bytes": 300 * MIB,
        "segment_bytes": 300 * MIB,
        "device_free_bytes": 3196 * MIB,
        "reserved_bytes": 900 * MIB,
        "active_bytes": 900 * MIB,
        "limit_bytes_least": 900 * MIB,
        "limit_bytes_most": 1200 * MIB - 1,
        "fraction_guess": 0.25,
    }
    state = explanation.to_json()["state"]
    assert state["capacity_bytes"] == 4096 * MIB
    assert (state["limit_bytes"], state["limit_bytes_most"]) == (900 * MIB, 1200 * MIB - 1)


def test_memory_limit_that_is_known_is_said(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=4 * GIB)
    diary.allocator.set_memory_fraction(0.25)
    diary.malloc("a", 900 * MIB)
    diary.malloc("b", 300 * MIB)
    options = ExplainOptions(fraction=0.25, card_total_bytes=4 * GIB)

    explanation = explain(diary.open(tmp_path), options)

    assert explanation.facts.limit_bytes == explanation.facts.capacity_bytes == 1 * GIB
    assert explanation.verdict.why == "900.00 MiB were reserved, 900.00 MiB of them in use; the limit is 1.00 GiB."


def test_card_that_refuses_is_no_memory_limit(full: Diary, tmp_path: Path) -> None:
    assert "OOM103" not in {finding.code for finding in explain(full.open(tmp_path)).findings}


def lent_to_a_stream(asked: int) -> Diary:
    """54 MiB of a segment come back from another stream only while the request fails, and nobody looks again."""
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("segment", 64 * MIB)
    diary.free("segment")
    diary.malloc("pin", 10 * MIB)
    diary.malloc("lent", 40 * MIB)
    diary.malloc("fill", 940 * MIB)
    diary.allocator.set_events_pending(True)
    diary.allocator.record_stream(diary.blocks["lent"], 7)
    diary.free("lent")
    diary.malloc("late", asked, at("train.py", 8))
    assert [event["action"] for event in diary.events[-2:]] == ["free_completed", "oom"]
    return diary


def test_spurious_failure_is_told_by_the_hole_that_was_there(tmp_path: Path) -> None:
    explanation = explain(lent_to_a_stream(54 * MIB).open(tmp_path))

    assert explanation.verdict.code == "OOM104"
    assert explanation.findings[0].measurements == {
        "rounded_bytes": 54 * MIB,
        "largest_free_block_bytes": 54 * MIB,
    }


def test_a_failure_whose_hole_is_too_small_is_not_spurious(tmp_path: Path) -> None:
    assert explain(lent_to_a_stream(55 * MIB).open(tmp_path)).verdict.code != "OOM104"


def test_nothing_failed(tmp_path: Path) -> None:
    diary = Diary()
    diary.malloc("a", 100 * MIB)
    diary.malloc("b", 50 * MIB)
    diary.free("a")

    explanation = explain(diary.open(tmp_path))

    assert explanation.verdict.code == "OK000"
    assert explanation.case.moment.at == "peak"
    assert explanation.findings[0].measurements == {
        "active_bytes": 150 * MIB,
        "reserved_bytes": 150 * MIB,
        "cached_bytes": 0,
        "failures": 0,
    }


def test_a_quiet_moment_of_a_recording_with_a_failure_says_so(full: Diary, tmp_path: Path) -> None:
    explanation = explain(full.open(tmp_path), ExplainOptions(at="event:1"))

    assert explanation.verdict.code == "OK000"
    assert explanation.verdict.message.startswith("Nothing failed then (1 failure elsewhere).")
    assert explanation.verdict.what_to_do == "Look at a failure with --at oom."
