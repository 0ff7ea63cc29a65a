"""OUT501 and OUT502, with exact numbers."""

from __future__ import annotations

from pathlib import Path

from gapless.explain import ExplainOptions, explain
from tests.unit.explain.diary import GIB, MIB, Diary, at
from tests.unit.explain.test_rules_fragmentation import cached_elsewhere


def crowded(available: int) -> Diary:
    """A card of 4 GiB of which somebody takes all but so many bytes after PyTorch reserved 2 GiB once."""
    diary = Diary(capacity_bytes=4 * GIB)
    diary.malloc("early", 2 * GIB, at("train.py", 2))
    diary.free("early")
    diary.empty_cache()
    diary.allocator.set_capacity(available)
    diary.malloc("a", 900 * MIB, at("train.py", 3))
    diary.malloc("b", 300 * MIB, at("train.py", 4))
    return diary


def test_what_pytorch_had_earlier_proves_that_others_hold_it(tmp_path: Path) -> None:
    explanation = explain(crowded(1 * GIB).open(tmp_path))

    finding = explanation.findings[0]
    assert explanation.verdict.code == finding.code == "OUT501"
    assert explanation.verdict.confidence == "certain"
    assert finding.bytes == 1 * GIB
    assert finding.measurements == {
        "outside_bytes": 1 * GIB,
        "card_bytes": 2 * GIB,
        "limit_bytes": 1 * GIB,
        "device_free_bytes": 124 * MIB,
        "reserved_bytes": 900 * MIB,
        "active_bytes": 900 * MIB,
        "rounded_bytes": 300 * MIB,
    }


def test_a_card_that_is_named_tells_what_others_hold(tmp_path: Path) -> None:
    explanation = explain(crowded(1 * GIB).open(tmp_path), ExplainOptions(recorded_card_bytes=4 * GIB))

    assert explanation.verdict.code == "OUT501"
    assert explanation.verdict.confidence == "likely"
    assert explanation.findings[0].bytes == 3 * GIB
    assert explanation.facts.capacity_bytes == 4 * GIB


def test_a_card_by_its_total_leaves_room_for_the_context(tmp_path: Path) -> None:
    options = ExplainOptions(card_total_bytes=4 * GIB)

    assert explain(crowded(1 * GIB).open(tmp_path), options).findings[0].bytes == 2560 * MIB


def test_others_are_not_the_reason_when_the_whole_card_would_not_do(tmp_path: Path) -> None:
    explanation = explain(crowded(1 * GIB).open(tmp_path), ExplainOptions(recorded_card_bytes=1200 * MIB))

    assert explanation.verdict.code == "OOM101"


def test_what_others_hold_is_not_the_reason_where_there_was_room_in_pieces(tmp_path: Path) -> None:
    explanation = explain(
        cached_elsewhere(300 * MIB, stream=5).open(tmp_path), ExplainOptions(recorded_card_bytes=4 * GIB)
    )

    (finding,) = (one for one in explanation.findings if one.code == "OUT501")
    assert explanation.verdict.code == "FRAG202"
    assert finding.severity == "warning"
    assert finding.message == "3.00 GiB of the card are held outside PyTorch."


def test_a_card_that_is_asked_about_says_nothing_of_the_one_that_failed(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 900 * MIB)
    diary.malloc("b", 300 * MIB)

    explanation = explain(diary.open(tmp_path), ExplainOptions(card_bytes=4 * GIB))

    assert "OUT501" not in {finding.code for finding in explanation.findings}
    assert explanation.verdict.code == "OOM101"
    assert explanation.facts.capacity_bytes == 1 * GIB


def test_without_a_card_or_a_past_nothing_is_said(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 900 * MIB)
    diary.malloc("b", 300 * MIB)

    assert "OUT501" not in {finding.code for finding in explain(diary.open(tmp_path)).findings}


def large_cache(cached: int) -> Diary:
    diary = Diary(capacity_bytes=5 * GIB)
    diary.malloc("a", cached, at("train.py", 2))
    diary.malloc("b", 500 * MIB, at("train.py", 3))
    diary.free("a")
    return diary


def test_a_library_that_failed_beside_a_large_cache(tmp_path: Path) -> None:
    explanation = explain(large_cache(3 * GIB).open(tmp_path), ExplainOptions(outside_failure="NCCL"))

    finding = explanation.findings[0]
    assert explanation.verdict.code == finding.code == "OUT502"
    assert explanation.case.moment.at == "end"
    assert finding.measurements == {
        "cached_bytes": 3 * GIB,
        "reserved_bytes": 3572 * MIB,
        "active_bytes": 500 * MIB,
        "cached_share": 0.86,
        "wanted_bytes": None,
        "card_bytes": None,
    }
    assert explanation.verdict.message == "NCCL ran out of memory while PyTorch kept 3.00 GiB cached and unused."


def test_a_small_cache_starves_nobody(tmp_path: Path) -> None:
    explanation = explain(large_cache(200 * MIB).open(tmp_path), ExplainOptions(outside_failure="NCCL"))

    assert (explanation.verdict.code, explanation.verdict.confidence) == ("OOM101", "unsure")
    assert explanation.verdict.message == (
        "NCCL did not get memory beside the 500.00 MiB that PyTorch has in use; its cache is not the reason."
    )


def test_a_cache_smaller_than_what_was_asked_for_is_not_the_reason(tmp_path: Path) -> None:
    options = ExplainOptions(outside_failure="NCCL", outside_request_bytes=3 * GIB + 1)

    assert explain(large_cache(3 * GIB).open(tmp_path), options).verdict.code == "OOM101"


def test_others_hold_what_a_library_did_not_get(tmp_path: Path) -> None:
    options = ExplainOptions(outside_failure="NCCL", outside_request_bytes=2 * GIB, recorded_card_bytes=12 * GIB)

    explanation = explain(large_cache(200 * MIB).open(tmp_path), options)

    assert explanation.verdict.code == "OUT501"
    assert explanation.findings[0].bytes == (12 - 2) * GIB - 700 * MIB


def test_a_cache_that_is_little_beside_what_was_left_is_not_the_reason(tmp_path: Path) -> None:
    diary = large_cache(300 * MIB)
    diary.malloc("c", 1 * GIB)
    recording = diary.open(tmp_path)  # 300 MiB cached of 1824 MiB reserved

    def verdict(**known: int) -> str:
        options = ExplainOptions(outside_failure="cuBLAS", outside_is_sure=False, **known)
        return explain(recording, options).verdict.code

    assert verdict() == "OOM101"
    assert verdict(recorded_card_bytes=24 * GIB) == "OUT501"
    assert verdict(recorded_card_bytes=2 * GIB) == "OUT502"
    assert verdict(card_bytes=2 * GIB) == "OOM101"


def test_a_cache_of_less_than_half_is_no_sure_reason_on_a_card_of_unknown_size(tmp_path: Path) -> None:
    diary = large_cache(1 * GIB)
    diary.malloc("c", 1 * GIB + 200 * MIB)
    verdict = explain(diary.open(tmp_path), ExplainOptions(outside_failure="cuBLAS")).verdict

    assert (verdict.code, verdict.confidence) == ("OUT502", "unsure")


def test_an_error_with_other_causes_leaves_the_verdict_unsure(tmp_path: Path) -> None:
    options = ExplainOptions(outside_failure="cuBLAS", outside_is_sure=False)

    verdict = explain(large_cache(3 * GIB).open(tmp_path), options).verdict

    assert (verdict.code, verdict.confidence) == ("OUT502", "unsure")
    assert verdict.message.startswith("cuBLAS failed in a way that a full card causes, while")


def test_room_for_others_is_held_against_the_peak_of_the_cache(tmp_path: Path) -> None:
    recording = large_cache(3 * GIB).open(tmp_path)  # 3572 MiB reserved and in use at most, then 500 in use

    def verdict(card_bytes: int, leave_free_bytes: int) -> str:
        options = ExplainOptions(card_bytes=card_bytes, leave_free_bytes=leave_free_bytes)
        return explain(recording, options).verdict.code

    assert verdict(4 * GIB, 524 * MIB) == "OK000"
    assert verdict(4 * GIB, 525 * MIB) == "OOM101"


def test_a_cache_that_is_never_in_use_takes_the_room_of_others(tmp_path: Path) -> None:
    diary = large_cache(3 * GIB)
    diary.malloc("c", 1 * GIB, at("train.py", 9), stream=1)  # 4596 MiB reserved, 3572 in use at most
    recording = diary.open(tmp_path)

    explanation = explain(recording, ExplainOptions(card_bytes=5 * GIB, leave_free_bytes=1 * GIB))

    assert explanation.verdict.code == "OUT502"
    assert explanation.findings[0].bytes == 1 * GIB
    assert explanation.verdict.message == (
        "Others need 1.00 GiB, and PyTorch leaves them 524.00 MiB of the 5.00 GiB: 1.00 GiB of what it reserves are"
        " never in use."
    )


def test_a_large_cache_is_no_fault_when_nobody_failed(tmp_path: Path) -> None:
    assert explain(large_cache(3 * GIB).open(tmp_path)).verdict.code == "OK000"


def test_a_run_that_did_not_fail_is_replayed_on_the_card_that_is_asked_about(tmp_path: Path) -> None:
    recording = large_cache(3 * GIB).open(tmp_path)  # 3 GiB and 500 MiB in use together

    def told(card_bytes: int) -> tuple[str, str]:
        verdict = explain(recording, ExplainOptions(card_bytes=card_bytes)).verdict
        return verdict.code, verdict.message

    assert told(3572 * MIB)[0] == "OK000"
    assert told(3571 * MIB) == (
        "OOM101",
        "Nothing failed in the recorded run. With 3.49 GiB for PyTorch the replay runs out of memory at event 3:"
        " the request for 500.00 MiB at train.py:3 failed because the memory is in use: 3.00 GiB of the 3.49 GiB that"
        " PyTorch could have (86 %).",
    )


def test_pieces_are_the_reason_on_another_card_where_enough_is_free_in_sum(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=4 * GIB)
    diary.malloc("a", 1 * GIB, at("train.py", 2))
    diary.free("a")
    diary.malloc("pin", 12 * MIB, at("train.py", 3))
    diary.malloc("b", 1100 * MIB, at("train.py", 4))

    verdict = explain(diary.open(tmp_path), ExplainOptions(card_bytes=2000 * MIB)).verdict

    assert verdict.code == "FRAG201"
    assert "the request for 1.07 GiB at train.py:4 failed although 1012.00 MiB were free" in verdict.message
