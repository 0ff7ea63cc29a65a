"""The run as it was: where it does as well on the card in question as anything else, nothing needs changing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gapless.tune.candidate import Candidate
from gapless.tune.fix import Kind
from gapless.tune.search import try_all

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.tried import Tried


def unchanged(case: Case) -> Tried | None:
    """The run as it was, where it gets over the critical moment on this card; None where something has to change.

    Not so on the card on which it failed, whatever a replay says; nor where memory grows, which any card only puts off;
    nor where the cache would take what has to stay free, and give it back only to its own requests.
    """
    room = case.card.capacity_bytes - case.leave_free_bytes
    if case.growth or (case.failed and room <= case.recorded_card.capacity_bytes):
        return None
    (one,) = try_all(case, [Candidate(kind=Kind.NONE, change="nothing needs changing on this card")])
    starves = case.leave_free_bytes > 0 and any(result.retry_events for result in one.replay.results)
    return one if one.helps and not one.replay.failures and not starves else None


def with_unchanged(as_it_was: Tried, others: Sequence[Tried]) -> list[Tried]:
    """The run as it was and what gains something beside it; the others alone where one has a better outcome.

    Args:
        as_it_was: With its margin, if that is known.
        others: Best first.
    """
    if any(one.outcome.rank < as_it_was.outcome.rank for one in others):
        return list(others)
    return [as_it_was, *(one for one in others if _gains(one, as_it_was))]


def _gains(one: Tried, as_it_was: Tried) -> bool:
    """Whether the same outcome comes with a smaller card, by more than the search for it is fine."""
    if one.outcome is not as_it_was.outcome or one.smallest is None or as_it_was.smallest is None:
        return False
    grain = max(one.smallest.grain_bytes, as_it_was.smallest.grain_bytes)
    return one.candidate.card is None and one.smallest.bytes + grain < as_it_was.smallest.bytes
