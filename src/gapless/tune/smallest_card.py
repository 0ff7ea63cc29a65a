"""The smallest card on which a change still has its outcome: a search over replays.

Whether a run fits need not be monotone in the size of the card: retries and garbage collection start at other moments
on other cards and leave other holes. So the boundary is looked for by halving, and then sizes above it are tried; where
one of them fails, the search goes on above that one. What is returned was replayed and holds; a size that is smaller
by no more than a grain was replayed and does not, or is less than what must be live at one time.

       live bytes        grain                         reserved without end
           |      fails    |<->|  holds    probe   probe   |
    -------+---------------x---o-------------o-------o-----+------> card

What a card without end has in use is mostly the answer, and so is tried first. It can be more than what must be live:
what waits for another stream is in use there, and blocks are given whole that a smaller card would have given back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.explain.lower_bound import lower_bound_bytes
from gapless.replaying import UNLIMITED_BYTES, replay
from gapless.tune.fix import Outcome
from gapless.tune.grading import outcome_of
from gapless.units import MIB

if TYPE_CHECKING:
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case

PAGE_BYTES = 2 * MIB
FINE_PARTS = 512
_PROBES = 3
_STRETCHES = (33, 36, 40, 48, 64, 96, 128, 256)
"""Cards to try in 32nds of what is reserved without end."""


@dataclass(frozen=True)
class SmallestCard:
    """A size that holds, and how fine the search was."""

    bytes: int
    grain_bytes: int


def smallest_card(
    case: Case, candidate: Candidate, *, holds_at: int | None = None, fails_at: int = 0, parts: int = FINE_PARTS
) -> SmallestCard | None:
    """The least that PyTorch must be able to reserve, and what stays free for others; None where no size helps.

    Args:
        case: What is tuned.
        candidate: The change.
        holds_at: A size that is known to hold; smaller ones are looked for, and larger ones not tried.
        fails_at: A size that is known not to hold; only larger ones are looked for, though a smaller one may happen to.
        parts: How fine the search is: the grain is such a part of what is reserved on a card without end.
    """
    endless = replay(case.recording, candidate.options(case, UNLIMITED_BYTES))
    if not _holds(outcome_of(case, endless)):
        return None
    top = _up(max(result.reserved_bytes_peak for result in endless.results), PAGE_BYTES)
    if top == 0:  # nothing is ever reserved
        return None
    live = lower_bound_bytes(case.recording, case.event if case.failed else None, candidate.edits)
    floor = max(live + case.leave_free_bytes, fails_at + 1)  # nothing below it holds, or is looked for
    in_use = min(result.active_bytes_peak for result in endless.results) + case.leave_free_bytes
    grain = max(PAGE_BYTES, _up(top // parts, PAGE_BYTES))
    top = _up(top + case.leave_free_bytes, PAGE_BYTES)

    def fits(size: int) -> bool:
        return _holds(outcome_of(case, replay(case.recording, candidate.options(case, size))))

    if holds_at is not None and holds_at <= top:
        top = holds_at
    else:
        # Under a memory fraction a card must be larger than what is reserved on it.
        sizes = [top, *(_up(top * k // 32, grain) for k in _STRETCHES)]
        if holds_at is not None:
            sizes = [*(size for size in sizes if size < holds_at), holds_at]
        top = next((size for size in sizes if size > fails_at and fits(size)), 0)
    if top == 0:
        return None
    likely = min(_up(max(in_use, floor), PAGE_BYTES), top)
    if likely == top or fits(likely):
        least = _boundary(fits, floor - 1, likely, grain)
    else:
        least = _boundary(fits, likely, top, grain)
    return SmallestCard(_above_stumbles(fits, least, top, grain), grain)


def _boundary(fits: Callable[[int], bool], fails: int, holds: int, grain: int) -> int:
    """A size that holds, one grain or less above one that does not."""
    while holds - fails > grain:
        middle = min(_up((fails + holds) // 2, PAGE_BYTES), holds - PAGE_BYTES)
        fails, holds = (fails, middle) if fits(middle) else (middle, holds)
    return holds


def _above_stumbles(fits: Callable[[int], bool], holds: int, top: int, grain: int) -> int:
    """The size itself where those tried above it hold too; else the boundary above the largest that does not."""
    while True:
        stumble = next((size for size in _above(holds, top) if not fits(size)), None)
        if stumble is None:
            return holds
        holds = _boundary(fits, stumble, top, grain)


def _holds(outcome: Outcome) -> bool:
    return outcome in {Outcome.SURVIVES, Outcome.SERVES_REQUEST}


def _above(size: int, top: int) -> list[int]:
    """Sizes to try above one, largest first."""
    step = (top - size) // (_PROBES + 1)
    return [_up(size + step * k, PAGE_BYTES) for k in range(_PROBES, 0, -1)] if step >= PAGE_BYTES else []


def _up(size: int, step: int) -> int:
    return -(-size // step) * step
