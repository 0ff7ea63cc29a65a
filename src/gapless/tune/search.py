"""Replays candidates in parallel and makes ranked fixes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.replaying import Replay, replay_many
from gapless.tune.fix import Fix, Kind, Outcome
from gapless.tune.grading import grade_of, outcome_of
from gapless.tune.risks import risks_of
from gapless.tune.smallest_card import SmallestCard, smallest_card

if TYPE_CHECKING:
    from gapless._core import ReplayResult
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case

_WITHOUT_COST = (Kind.SETTING, Kind.LIMIT)


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
            -(fix.margin_bytes if fix.margin_bytes is not None else -(1 << 62)),
            len(self.replay.result.retry_events),
            len(candidate.changes),
            fix.reserved_bytes_peak_after,
            candidate.order,
        )


def try_all(
    case: Case,
    candidates: Sequence[Candidate],
    *,
    finds_cards: bool = True,
    on_done: Callable[[int, int], None] | None = None,
) -> list[Tried]:
    """Replays each, best first.

    Args:
        case: What is tuned.
        candidates: What to try.
        finds_cards: Look for the smallest card of each, which takes some ten replays more.
        on_done: Told (done, of how many) in replays' worth of work.
    """
    total = len(candidates) * (2 if finds_cards else 1)
    report = on_done or (lambda done, of: None)
    replays = replay_many(
        case.recording, [c.options(case) for c in candidates], on_done=lambda done: report(done, total)
    )
    cards: list[SmallestCard | None] = [None] * len(candidates)
    if finds_cards:
        with ThreadPoolExecutor() as pool:
            for row, found in enumerate(pool.map(lambda c: smallest_card(case, c), candidates)):
                cards[row] = found
                report(len(candidates) + row + 1, total)
    tried = [_tried(case, c, r, card) for c, r, card in zip(candidates, replays, cards, strict=True)]
    return sorted(tried, key=lambda one: one.rank)


def _tried(case: Case, candidate: Candidate, replay: Replay, smallest: SmallestCard | None) -> Tried:
    outcome = outcome_of(case, replay)
    grade, assumed = grade_of(case, candidate, outcome)
    before, after = case.before.result, replay.result
    card = candidate.card or case.card
    retries, steps = len(after.retry_events), case.step_count
    fix = Fix(
        kind=candidate.kind,
        change=candidate.change,
        conf=candidate.conf,
        outcome=outcome,
        grade=grade,
        assumed_bytes=assumed,
        margin_bytes=card.capacity_bytes - smallest.bytes if smallest else None,
        reserved_bytes_peak_before=before.reserved_bytes_peak,
        reserved_bytes_peak_after=after.reserved_bytes_peak,
        device_calls_before=device_calls(before),
        device_calls_after=device_calls(after),
        retries_per_step=retries / steps if steps else None,
        risks=risks_of(case, candidate, replay),
    )
    return Tried(candidate, replay, outcome, fix, smallest)


def device_calls(result: ReplayResult) -> int:
    """Calls of the driver that gave or took memory."""
    asked = result.device_alloc_calls + result.device_map_calls
    return asked + result.device_free_calls + result.device_unmap_calls
