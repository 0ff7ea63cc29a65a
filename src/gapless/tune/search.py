"""Replays candidates in parallel and makes ranked fixes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.replaying import Replay, replay_many
from gapless.tune.fix import Fix, Outcome
from gapless.tune.grading import SERVING, grade_of, is_reached_unchanged, outcome_of
from gapless.tune.ranking import ranked
from gapless.tune.risks import risks_of
from gapless.tune.risks.costs import device_calls
from gapless.tune.smallest_card import FINE_PARTS, SmallestCard, smallest_card
from gapless.tune.tried import Tried

if TYPE_CHECKING:
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case


def try_all(case: Case, candidates: Sequence[Candidate], on_done: Callable[[int], None] | None = None) -> list[Tried]:
    """Replays each, best first. Margins and smallest cards are not looked for.

    Args:
        case: What is tuned.
        candidates: What to try.
        on_done: Told how many are done.
    """
    replays = replay_many(case.recording, [one.options(case) for one in candidates], on_done=on_done)
    return ranked(_tried(case, one, found) for one, found in zip(candidates, replays, strict=True))


def measure_cards(
    case: Case, tried: Sequence[Tried], on_done: Callable[[int], None] | None = None, *, parts: int = FINE_PARTS
) -> list[Tried]:
    """The same with the smallest card of each, and so with margins; ranked again. Ten to twenty replays each."""
    found: list[Tried] = []
    with ThreadPoolExecutor() as pool:
        searches = pool.map(lambda one: _smallest_card(case, one, parts), tried)
        for one, smallest in zip(tried, searches, strict=True):
            found.append(one if smallest is None else with_card(case, one, smallest))
            if on_done:
                on_done(len(found))
    return ranked(found)


def _smallest_card(case: Case, one: Tried, parts: int) -> SmallestCard | None:
    if one.outcome is Outcome.UNKNOWN:
        return None
    capacity = (one.candidate.card or case.card).capacity_bytes
    known = {"holds_at": capacity} if one.helps else {"fails_at": capacity}
    return smallest_card(case, one.candidate, parts=parts, **known)


def with_risks(case: Case, one: Tried) -> Tried:
    """A result with its risks; a few replays for those of switching while the job runs."""
    return replace(one, fix=replace(one.fix, risks=risks_of(case, one)))


def with_card(case: Case, one: Tried, smallest: SmallestCard) -> Tried:
    """A result with its smallest card, and so with its margin."""
    capacity = (one.candidate.card or case.card).capacity_bytes
    fix = replace(one.fix, margin_bytes=capacity - smallest.bytes, smallest_card_bytes=smallest.bytes)
    return replace(one, smallest=smallest, fix=fix)


def _tried(case: Case, candidate: Candidate, replay: Replay) -> Tried:
    outcome = outcome_of(case, replay)
    if outcome in SERVING and is_reached_unchanged(case, candidate):
        outcome = Outcome.UNKNOWN
    grade, assumed = grade_of(case, candidate, outcome)
    before, anew, after = case.before.result, case.before_anew.result, replay.result
    retries, steps = len(after.retry_events), case.step_count
    fix = Fix(
        kind=candidate.kind,
        change=candidate.change,
        conf=candidate.conf,
        call=candidate.call(case.recording.release),
        outcome=outcome,
        grade=grade,
        assumed_bytes=assumed,
        margin_bytes=None,
        reserved_bytes_peak_before=before.reserved_bytes_peak,
        reserved_bytes_peak_after=after.reserved_bytes_peak,
        device_calls_before=device_calls(anew),
        device_calls_after=device_calls(after),
        retries_per_step=retries / steps if steps else None,
    )
    beyond = max(0, retries - len(anew.retry_events))
    return Tried(candidate, replay, outcome, fix, retries_beyond=beyond)
