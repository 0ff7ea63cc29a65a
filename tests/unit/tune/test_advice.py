"""What an explanation advises follows the replay: the best that helps, nothing that fails, and the order of tune."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gapless.cards import find_card
from gapless.explain import Explanation, explain
from gapless.recording import open_recordings
from gapless.tune import Fix, Grade, Kind, Outcome, TuneOptions, advised, best_fixes, recommended, tune
from gapless.tune.candidate import Candidate
from gapless.tune.ranking import ranked
from gapless.tune.search import try_all
from gapless.tune.tried import Tried
from gapless.tune.unchanged import unchanged
from gapless.units import MIB
from tests.recordings import ROOT
from tests.unit.tune.made import case, pinned, training

FIXTURES = ROOT / "tests" / "fixtures" / "verdicts"
FAILED = sorted(FIXTURES.glob("frag20*_hit_*")) + sorted(FIXTURES.glob("oom10*_hit_*"))


def of_fixture(name: str) -> Explanation:
    (recording,) = open_recordings(str(FIXTURES / f"{name}.pickle.gz"))
    return explain(recording)


def fix(**changes: object) -> Fix:
    """A setting that serves the request, proved."""
    found = Fix(
        kind=Kind.SETTING,
        change="set max_split_size_mb:128",
        conf="max_split_size_mb:128",
        outcome=Outcome.SERVES_REQUEST,
        grade=Grade.PROVED,
        assumed_bytes=0,
        margin_bytes=1,
        reserved_bytes_peak_before=2,
        reserved_bytes_peak_after=1,
        device_calls_before=1,
        device_calls_after=1,
        retries_per_step=None,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def test_the_setting_that_serves_is_named_and_no_other(tmp_path: Path) -> None:
    explanation = explain(pinned(tmp_path))

    answer = advised(explanation, [fix()])

    assert "expandable_segments" in explanation.verdict.what_to_do
    assert answer.verdict.what_to_do == (
        "Set max_split_size_mb:128: the request is served. Or perhaps allocate what train.py:12 keeps before the large"
        " tensors: no replay tried that."
    )
    assert answer.findings[0].what_to_do == answer.to_json()["verdict"]["what_to_do"] == answer.verdict.what_to_do


def test_where_nothing_helps_it_is_said_and_no_setting_is_named(tmp_path: Path) -> None:
    answer = advised(explain(pinned(tmp_path)), [fix(outcome=Outcome.FAILS), fix(outcome=Outcome.UNKNOWN)])

    assert answer.verdict.what_to_do == (
        "No setting and no other change was shown by replay to help on this card. Perhaps allocate what train.py:12"
        " keeps before the large tensors: no replay tried that."
    )


def test_where_only_the_program_or_a_card_helps_no_setting_is_named(tmp_path: Path) -> None:
    explanation = explain(pinned(tmp_path))
    code = fix(kind=Kind.CODE, change="half the batch: it shrinks", conf=None, grade=Grade.MODELLED)
    card = fix(kind=Kind.CARD, change="a card of 2.00 GiB", conf=None)

    assert advised(explanation, [code, card]).verdict.what_to_do == (
        "No setting that was replayed helps on this card. Half the batch: it shrinks. The request is served (modelled)."
        " Or perhaps allocate what train.py:12 keeps before the large tensors: no replay tried that."
    )
    assert advised(explanation, [card]).verdict.what_to_do == (
        "No setting that was replayed helps on this card. What does is a card of 2.00 GiB: the request is served."
    )


def test_where_nothing_needs_changing_nothing_is_advised() -> None:
    explanation = of_fixture("oom102_hit_scores_of_a_long_text")

    answer = advised(explanation, [fix(kind=Kind.NONE, change="nothing", conf=None), fix()])

    assert {one.code: one.what_to_do for one in answer.findings if one.code in ("OOM102", "OOM101")} == {
        "OOM102": "On this card nothing needs changing: in the replay the request is served.",
        "OOM101": "",
    }


def test_a_setting_that_helps_takes_the_place_of_none_helps() -> None:
    explanation = of_fixture("oom101_hit_batch_too_large")

    answer = advised(explanation, [fix()])

    assert explanation.verdict.what_to_do.startswith("No allocator setting helps.")
    assert answer.verdict.what_to_do.startswith("Set max_split_size_mb:128: the request is served. Or a smaller batch")
    assert advised(explanation, []).verdict == explanation.verdict


def test_a_finding_that_does_not_decide_names_no_setting_either() -> None:
    explanation = of_fixture("frag204_hit_halves_of_powers_of_two")
    decisive, *others = explanation.findings
    beside = replace(explanation, findings=(replace(others[0], names_settings=False), decisive, *others[1:]))

    assert "roundup_power2_divisions" in decisive.what_to_do
    assert advised(beside, []).findings[1].what_to_do == ""


def test_of_equal_outcomes_what_leaves_the_program_alone_is_recommended() -> None:
    code, setting = fix(kind=Kind.CODE, margin_bytes=9), fix()
    better = fix(kind=Kind.CODE, outcome=Outcome.SURVIVES)

    assert recommended([code, setting]) is setting
    assert recommended([better, setting]) is better
    assert recommended([fix(outcome=Outcome.FAILS)]) is None


@pytest.mark.parametrize("path", FAILED, ids=lambda path: path.name.partition(".")[0])
def test_no_setting_that_fails_is_advised(path: Path) -> None:
    """Of real failures: a setting that the advice names was replayed, and serves."""
    (recording,) = open_recordings(str(path))
    explanation = explain(recording)
    fixes = best_fixes(explanation.case)
    serves = {one.change for one in fixes if one.outcome in (Outcome.SERVES_REQUEST, Outcome.SURVIVES)}

    for finding in advised(explanation, fixes).findings:
        if finding.code.startswith(("CONF", "REC")):
            continue
        named = [
            name for name in ("expandable_segments:", "max_split_size_mb", "roundup") if name in finding.what_to_do
        ]
        assert not named or any(change[1:] in finding.what_to_do for change in serves), finding.what_to_do


def assert_order(everything: list[Fix], fixes: list[Fix]) -> None:
    """The one to recommend first, the others in the order of tune."""
    ranks = [everything.index(one) for one in fixes]

    assert recommended(fixes) == fixes[0]
    assert ranks[1:] == sorted(ranks[1:])


@pytest.mark.parametrize("card", [None, "1200MiB", "1400MiB"])
def test_explain_and_tune_show_the_same_in_the_same_order(tmp_path: Path, card: str | None) -> None:
    options = TuneOptions(card=None if card is None else find_card(card))
    explanation = explain(pinned(tmp_path))

    result, fixes = tune(explanation.recording, options), best_fixes(explanation.case, options)

    everything = [one.fix for one in result.tried]
    assert len(fixes) == 3
    assert_order(everything, fixes)
    assert result.best is not None
    assert recommended(fixes) == result.best.fix


def test_of_a_long_recording_the_order_is_that_of_tune(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys.modules["gapless.tune.best_fixes"], "_SEARCHED_WHOLE_UP_TO", 0)
    explanation = explain(pinned(tmp_path))

    everything = [one.fix for one in tune(explanation.recording).tried]
    fixes = best_fixes(explanation.case)

    assert_order(everything, fixes)


def test_of_a_long_recording_that_fits_nothing_comes_before_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys.modules["gapless.tune.best_fixes"], "_SEARCHED_WHOLE_UP_TO", 0)

    fixes = best_fixes(explain(pinned(tmp_path)).case, TuneOptions(card=find_card("1400MiB")))

    assert fixes[0].kind is Kind.NONE
    assert fixes[0].margin_bytes == 144 * MIB


def test_the_smallest_change_to_the_code_is_recommended_of_those_that_differ_in_degree() -> None:
    (recording,) = open_recordings(str(FIXTURES / "oom101_hit_batch_too_large.pickle.gz"))

    best: Tried | None = tune(recording).best

    assert best is not None
    assert best.fix.change.startswith("three quarters of the batch")


def test_a_run_that_grows_is_not_told_that_settings_fail(tmp_path: Path) -> None:
    leaking = explain(training(tmp_path, steps=40, leak=16 * MIB, capacity_bytes=800 * MIB))
    code = fix(kind=Kind.CODE, change="let go of it", conf=None)
    (decisive, *others) = leaking.findings

    answer = advised(replace(leaking, findings=(replace(decisive, names_settings=True), *others)), [code])

    assert "No setting" not in answer.verdict.what_to_do


def test_where_memory_is_full_settings_that_serve_are_not_shown() -> None:
    explanation = of_fixture("oom101_hit_optimizer_states_do_not_fit")

    serving = {one.fix.kind for one in tune(explanation.recording).tried if one.helps}
    shown = {one.kind for one in best_fixes(explanation.case)}

    assert Kind.SETTING in serving
    assert Kind.CODE in shown
    assert Kind.SETTING not in shown


def test_where_in_sum_enough_is_free_the_setting_that_finds_it_is_advised() -> None:
    explanation = of_fixture("oom101_hit_hole_too_small_at_97_percent")
    fixes = best_fixes(explanation.case)

    best = recommended(fixes)

    assert best is not None
    assert best.kind is Kind.SETTING
    assert advised(explanation, fixes).verdict.what_to_do.startswith(f"S{best.change[1:]}: the request is served")


def test_a_larger_card_comes_after_all_that_fits(tmp_path: Path) -> None:
    """However much it has to spare: a card of 14.4 GiB for a run of 1.2."""
    tried = [one for one in tune(pinned(tmp_path)).tried if one.helps]

    assert tried[-1].fix.kind is Kind.CARD
    assert (tried[-1].fix.margin_bytes or 0) > max(one.fix.margin_bytes or 0 for one in tried[:-1])


def test_of_equal_margins_fewer_retries_come_first(tmp_path: Path) -> None:
    (first, *_) = tune(training(tmp_path)).tried

    rare, often = (replace(first, fix=replace(first.fix, retries_per_step=rate)) for rate in (0.0, 2.0))
    larger = replace(rare, fix=replace(rare.fix, reserved_bytes_peak_after=1 << 40))

    assert ranked([often, larger]) == [larger, often]


def test_on_the_card_on_which_it_failed_something_has_to_change(tmp_path: Path) -> None:
    """Even where the replay serves what was refused: recorded from late on, holes may close that were there."""
    same, larger = (case(pinned(tmp_path, starts="cuts"), card=size * MIB) for size in (1250, 1300))

    (served,) = try_all(same, [Candidate(kind=Kind.NONE, change="")])

    assert served.helps
    assert unchanged(same) is None
    assert unchanged(larger) is not None
