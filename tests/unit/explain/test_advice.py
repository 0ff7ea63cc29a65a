"""What verdicts advise, and that what is said beside them does not contradict them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.explain import Explanation, explain
from gapless.recording import open_recordings
from tests.unit.explain.diary import GIB, MIB, Diary, at, optimizer_step
from tests.unit.explain.programs import WEIGHT_BYTES, backward, build, forward, train
from tests.unit.explain.test_rules_out_of_memory import lent_to_a_stream

FIXTURES = Path(__file__).parents[2] / "fixtures" / "verdicts"


def of_fixture(name: str) -> Explanation:
    (recording,) = open_recordings(str(FIXTURES / f"{name}.pickle.gz"))
    return explain(recording)


def severities(explanation: Explanation) -> dict[str, str]:
    return {finding.code: finding.severity for finding in explanation.findings}


def test_one_error_decides_and_others_are_warnings(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=2 * GIB)
    build(diary)
    train(diary, [60 * MIB] * 40, keep_bytes=64 * MIB)

    found = severities(explain(diary.open(tmp_path)))

    assert (found["GROW301"], found["OOM101"]) == ("error", "warning")


def test_a_request_larger_than_the_card_is_not_said_to_meet_a_full_one() -> None:
    explanation = of_fixture("oom102_hit_scores_of_a_long_text")

    (capacity,) = (finding for finding in explanation.findings if finding.code == "OOM101")
    assert capacity.severity == "warning"
    assert capacity.message == (
        "The request for 64.00 GiB at limits.py:32 does not fit beside the 96.00 MiB in use: PyTorch could have"
        " 23.61 GiB in all."
    )


def test_a_hole_that_fits_is_no_fragmentation(tmp_path: Path) -> None:
    explanation = explain(lent_to_a_stream(54 * MIB).open(tmp_path))

    assert explanation.verdict.code == "OOM104"
    assert "FRAG201" not in severities(explanation)


def test_a_full_card_with_enough_in_sum_does_not_say_that_no_setting_helps() -> None:
    verdict = of_fixture("oom101_hit_hole_too_small_at_97_percent").verdict

    assert "enough in sum for this request" in verdict.why
    assert verdict.what_to_do.startswith("A setting gains little and puts the failure off. What helps: ")


def test_a_spike_without_which_it_would_fit_is_the_advice() -> None:
    verdict = of_fixture("peak401_hit_logits_of_a_large_vocabulary").verdict

    assert verdict.message.startswith("The request for 3.17 GiB in the backward pass failed")
    assert "would fit without the 6.38 GiB that live only for a moment" in verdict.what_to_do
    assert "fused linear cross entropy" in verdict.what_to_do


def test_state_that_the_optimizer_had_still_to_make_is_counted(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=25 * WEIGHT_BYTES)
    build(diary, weights=8)
    forward(diary, 4 * MIB, layers=8)
    backward(diary, layers=8)
    layer = 0
    while diary.malloc(f"mean{layer}", WEIGHT_BYTES, optimizer_step()) and diary.malloc(
        f"variance{layer}", WEIGHT_BYTES, optimizer_step()
    ):
        layer += 1

    explanation = explain(diary.open(tmp_path))

    made = sum(holder.bytes for holder in explanation.holders if holder.kind == "optimizer")
    assert made == 8 * WEIGHT_BYTES
    assert "had about 320.00 MiB more of its state to make" in explanation.verdict.why
    assert f"with at least {(explanation.facts.active_bytes + 8 * WEIGHT_BYTES) / GIB:.2f} GiB for PyTorch" in (
        explanation.verdict.what_to_do
    )


def test_a_file_without_history_is_not_said_to_be_well(tmp_path: Path) -> None:
    diary = Diary()
    diary.malloc("a", 100 * MIB, at("train.py", 3))
    diary.drop(len(diary.events))

    verdict = explain(diary.open(tmp_path)).verdict

    assert (verdict.code, verdict.confidence) == ("OK000", "unsure")
    assert verdict.message == (
        "No failure is recorded, nor any history. When the file was written, 100.00 MiB were in use and 100.00 MiB"
        " reserved."
    )


def test_what_a_limit_allowed_is_at_least_what_was_reserved_before() -> None:
    explanation = of_fixture("oom103_hit_fraction_set_by_the_program")

    refusal = explanation.case.refusal
    assert refusal is not None
    assert explanation.facts.reserved_bytes < refusal.limit_bytes_least
    assert explanation.facts.capacity_bytes == refusal.limit_bytes_least


@pytest.mark.parametrize(
    ("name", "why", "what_to_do"),
    [
        ("halves_of_powers_of_two", "since roundup_power2_divisions", "Use more divisions"),
        ("large_blocks_given_whole", "since blocks over max_split_size_mb", "Lower max_non_split_rounding_mb"),
        ("pool_that_does_not_split", "up to 17.00 MiB each: they lie in a private pool", "Let the pool split"),
        ("rest_of_a_segment_too_small_to_split", "each by up to 1 MiB", "Let segments grow"),
    ],
)
def test_why_bytes_are_lost_to_rounding(name: str, why: str, what_to_do: str) -> None:
    verdict = of_fixture(f"frag204_hit_{name}").verdict

    assert why in verdict.why
    assert verdict.what_to_do.startswith(what_to_do)


def test_nothing_wrong_points_at_warnings_where_there_are_some() -> None:
    points = {
        name: "The warnings say" in of_fixture(name).verdict.what_to_do
        for name in ("conf609_hit_collection_without_a_limit", "conf609_near_miss_collection_below_a_limit")
    }

    assert list(points.values()) == [True, False]


def test_the_few_per_cent_that_every_program_loses_are_not_why_it_failed() -> None:
    (recording,) = open_recordings(str(FIXTURES.parent / "kinds" / "speech_with_momenta_by_hand.pickle.gz"))

    explanation = explain(recording)

    refusal, lost = explanation.case.refusal, explanation.case.rounding
    assert refusal is not None
    assert refusal.would_fit(refusal.active_bytes - lost.bytes, refusal.limit_bytes_least)
    assert lost.bytes < 0.03 * refusal.active_bytes
    assert explanation.verdict.code == "OOM101"
    assert "FRAG204" not in severities(explanation)


def test_names_of_options_keep_their_letters() -> None:
    explanation = of_fixture("conf609_hit_collection_without_a_limit")

    (finding,) = (finding for finding in explanation.findings if finding.code == "CONF609")
    assert finding.message.startswith("garbage_collection_threshold:0.8 does nothing")


def test_what_a_failure_swept_away_is_not_temporary_for_that() -> None:
    explanation = of_fixture("rec703_hit_written_after_the_next_steps")

    kinds = dict.fromkeys(("activations", "temporary"), 0)
    for holder in explanation.holders:
        kinds[holder.kind] = kinds.get(holder.kind, 0) + holder.bytes
    assert kinds["activations"] > 0.9 * explanation.facts.active_bytes
