"""Replays candidates in parallel and makes ranked fixes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gapless.replaying import Replay, replay_many
from gapless.tune.fix import Fix, Kind, Outcome
from gapless.tune.grading import grade_of, outcome_of
from gapless.tune.risks import risks_of
from gapless.tune.risks.costs import device_calls
from gapless.tune.smallest_card import SmallestCard, smallest_card

if TYPE_CHECKING:
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case

_WITHOUT_COST = (Kind.SETTING, Kind.LIMIT)
_UNKNOWN_LAST = 1 << 62


@dataclass(frozen=True)
class Tried:
    """A candidate with what its replay gave."""

    candidate: Candidate
    replay: Replay
    outcome: Outcome
    fix: Fix
    smallest: SmallestCard | None = None
    """None: no size helps, or it was not looked for."""

    @property
    def helps(self) -> bool:
        """The run gets over the critical moment."""
        return self.outcome in {Outcome.SURVIVES, Outcome.SERVES_REQUEST}

    @property
    def rank(self) -> tuple[object, ...]:
        """Smaller is better. Margins are compared among changes on the same card only, so cards come last."""
        fix, candidate = self.fix, self.candidate
        kind = 0 if fix.kind in _WITHOUT_COST else 1 if fix.kind is Kind.CODE else 2
        return (
            fix.outcome.rank,
            kind,
            -fix.margin_bytes if fix.margin_bytes is not None else _UNKNOWN_LAST,
            len(self.replay.result.retry_events),
            len(candidate.changes),
            fix.reserved_bytes_peak_after,
            candidate.order,
        )


def try_all(case: Case, candidates: Sequence[Candidate], on_done: Callable[[int], None] | None = None) -> list[Tried]:
    """Replays each, best first. Margins and smallest cards are not looked for.

    Args:
        case: What is tuned.
        candidates: What to try.
        on_done: Told how many are done.
    """
    replays = replay_many(case.recording, [one.options(case) for one in candidates], on_done=on_done)
    return ranked(_tried(case, one, found) for one, found in zip(candidates, replays, strict=True))


def measure_cards(case: Case, tried: Sequence[Tried], on_done: Callable[[int], None] | None = None) -> list[Tried]:
    """The same with the smallest card of each, and so with margins; ranked again. Ten to twenty replays each."""
    found: list[Tried] = []
    with ThreadPoolExecutor() as pool:
        for one, smallest in zip(tried, pool.map(lambda one: smallest_card(case, one.candidate), tried), strict=True):
            found.append(one if smallest is None else with_card(case, one, smallest))
            if on_done:
                on_done(len(found))
    return ranked(found)


def with_card(case: Case, one: Tried, smallest: SmallestCard) -> Tried:
    """A result with its smallest card. A card on which it held is large enough, whatever a search over others found."""
    capacity = (one.candidate.card or case.card).capacity_bytes
    size = min(smallest.bytes, capacity) if one.helps else smallest.bytes
    smallest = replace(smallest, bytes=size)
    return replace(one, smallest=smallest, fix=replace(one.fix, margin_bytes=capacity - size))


def ranked(tried: Iterable[Tried]) -> list[Tried]:
    """Best first."""
    return sorted(tried, key=lambda one: one.rank)


def _tried(case: Case, candidate: Candidate, replay: Replay) -> Tried:
    outcome = outcome_of(case, replay)
    grade, assumed = grade_of(case, candidate, outcome)
    before, after = case.before.result, replay.result
    retries, steps = len(after.retry_events), case.step_count
    fix = Fix(
        kind=candidate.kind,
        change=candidate.change,
        conf=candidate.conf,
        outcome=outcome,
        grade=grade,
        assumed_bytes=assumed,
        margin_bytes=None,
        reserved_bytes_peak_before=before.reserved_bytes_peak,
        reserved_bytes_peak_after=after.reserved_bytes_peak,
        device_calls_before=device_calls(before),
        device_calls_after=device_calls(after),
        retries_per_step=retries / steps if steps else None,
        risks=risks_of(case, candidate, replay),
    )
    return Tried(candidate, replay, outcome, fix)
