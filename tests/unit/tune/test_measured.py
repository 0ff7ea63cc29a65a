"""What tune says, beside what was measured: never a cure where the rerun failed, never a failure where it completed."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from gapless.conf import parse
from gapless.explain.case import open_case
from gapless.explain.options import ExplainOptions
from gapless.recording import Recording, open_recordings
from gapless.tune import Fix, Grade, Outcome, TuneOptions, tune
from gapless.tune.candidate import Candidate, of_conf
from gapless.tune.engine import case_of
from gapless.tune.fix import Kind
from gapless.tune.search import try_all
from tests.unit.tune.measured import Rerun, fixture_reruns, shared_reruns

SHARED = shared_reruns()
RERUNS = [*SHARED, *fixture_reruns()]
if not SHARED and os.environ.get("CI") != "true":
    pytest.skip("the shared recordings are absent: set GAPLESS_SHARED", allow_module_level=True)


@cache
def recording_of(path: Path) -> Recording:
    return open_recordings(str(path))[0]


def claims_a_cure(fix: Fix) -> bool:
    return fix.outcome is Outcome.SURVIVES or (fix.grade is Grade.PROVED and fix.outcome is not Outcome.FAILS)


def fix_for(rerun: Rerun) -> Fix:
    """What is said of the rerun's settings on its card."""
    recording = recording_of(rerun.path)
    explained = open_case(recording, ExplainOptions())
    case = case_of(explained, TuneOptions(card=rerun.card))
    candidate = of_conf(case, rerun.conf, "the rerun") or Candidate(kind=Kind.SETTING, change="nothing")
    candidate = replace(candidate, lifts_limit=rerun.without_fraction)
    (tried,) = try_all(case, [candidate])
    return tried.fix


def test_there_are_reruns_of_both_kinds() -> None:
    assert sum(rerun.completes for rerun in SHARED) == 22
    assert sum(not rerun.completes for rerun in SHARED) == 75


@pytest.mark.parametrize("rerun", RERUNS, ids=lambda rerun: rerun.name)
def test_no_cure_is_claimed_where_the_rerun_failed_and_no_failure_where_it_completed(rerun: Rerun) -> None:
    fix = fix_for(rerun)

    assert not (claims_a_cure(fix) and not rerun.completes)
    assert not (fix.outcome is Outcome.FAILS and rerun.completes)


@pytest.mark.parametrize("path", sorted({rerun.path for rerun in RERUNS}), ids=lambda path: path.name.partition(".")[0])
def test_no_candidate_of_tune_claims_a_cure_where_a_rerun_with_it_failed(path: Path) -> None:
    reruns = [rerun for rerun in RERUNS if rerun.path == path]
    compared = 0
    for card in sorted({rerun.card for rerun in reruns}, key=lambda card: card.capacity_bytes):
        measured = {parse(rerun.conf).settings: rerun.completes for rerun in reruns if rerun.card == card}
        result = tune(recording_of(path), TuneOptions(card=card, finds_cards=False))
        for one in result.tried:
            settings = one.candidate.settings
            if one.fix.kind is Kind.SETTING and settings in measured:
                compared += 1
                assert not (claims_a_cure(one.fix) and not measured[settings]), one.fix.conf
    assert compared > 0 or path.parent.name != "virtual"


def test_the_cure_of_the_pinned_segments_is_proved_by_recording_alone() -> None:
    rerun = next(r for r in RERUNS if r.conf == "expandable_segments:True" and "frag_pinned" in r.path.name)

    fix = fix_for(rerun)

    assert rerun.completes
    assert (fix.outcome, fix.grade, fix.assumed_bytes) == (Outcome.SERVES_REQUEST, Grade.PROVED, 0)
    assert fix.reserved_bytes_peak_after == 25354567680  # what the rerun measured
