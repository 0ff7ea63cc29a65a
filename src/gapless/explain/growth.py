"""Growth: memory of which there is more after each step, from the same places.

The bytes in use at each beginning of a step are compared, place by place. A place grows when they rise in the median,
hardly ever fall, and end higher than they began by nearly all that they moved: warming up in the first step, or shapes
that vary, do neither. Where other places lose as much as these gain, memory only changes hands, and nothing grows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.finding import Growth
from gapless.explain.median import medians_of
from gapless.units import MIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case

LEAST_STEPS = 3
LEAST_BYTES = MIB
"""Less than this in all is nobody's trouble."""
LEAST_SHARE = 0.005
"""Of the memory in use."""
_RISING = 0.75
"""Least share of steps with more bytes than before."""
_NET = 0.5
"""Least share of what grows that all memory in use grows by."""
_ONE_WAY = 0.8
"""Least share of all movement that is upward in sum."""


def growth_of(case: Case) -> tuple[Growth, ...]:
    """What grows with every step up to the moment, the fastest first; empty where steps cannot be told apart."""
    if case.steps is None:
        return ()
    until = case.moment.event if case.moment.is_failure else case.recording.event_count
    boundaries = case.steps.boundaries[case.steps.boundaries <= until]
    if len(boundaries) < LEAST_STEPS + 1:
        return ()
    live, place = _live_bytes(case, boundaries)
    first = 1 if len(boundaries) > LEAST_STEPS + 1 else 0  # the first step warms up
    rise = np.diff(live[first:], axis=0)
    total = rise.sum(axis=0)
    moved = np.abs(rise).sum(axis=0)
    least = max(LEAST_BYTES, LEAST_SHARE * case.facts.active_bytes)
    grows = (medians_of(rise) > 0) & ((rise > 0).mean(axis=0) >= _RISING)
    grows &= (total >= _ONE_WAY * moved) & (total >= least)
    if rise.sum() < _NET * total[grows].sum():
        return ()
    found = np.flatnonzero(grows)
    order = found[np.argsort(-total[found], kind="stable")]
    return tuple(_growth(case, int(number), place, int(total[number]), len(rise)) for number in order)


def _live_bytes(case: Case, boundaries: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bytes in use at each boundary (rows) from each place (columns), and the place of each allocation."""
    allocations = case.recording.trace.allocations
    place = case.stacks.place_of(allocations.stack)
    begin = np.searchsorted(boundaries, allocations.alloc_event, side="right")
    end = np.searchsorted(boundaries, allocations.free_requested_event.astype(np.int64), side="right")
    size = allocations.size.astype(np.int64)
    lives = begin < end
    change = np.zeros((len(boundaries) + 1, int(place.max(initial=0)) + 1), dtype=np.int64)
    np.add.at(change, (begin[lives], place[lives]), size[lives])
    np.add.at(change, (end[lives], place[lives]), -size[lives])
    return np.cumsum(change, axis=0)[:-1], place


def _growth(case: Case, number: int, place: NDArray[np.int64], total: int, steps: int) -> Growth:
    """The growth of a place, with the stack that holds most of it at the moment."""
    allocations = case.recording.trace.allocations
    alive = case.recording.alive_before(case.moment.event)
    mine = alive[place[alive] == number]
    if not len(mine):  # looked at before it grew
        mine = np.flatnonzero(place == number)
    stacks, of = np.unique(allocations.stack[mine], return_inverse=True)
    stack = int(stacks[np.argmax(np.bincount(of, weights=allocations.size[mine]))])
    return Growth(case.stacks.stack(stack), case.stacks.place(stack), round(total / steps), steps, total)
