"""Growth: memory of which there is more after each step, from the same places.

Note [What grows]

The bytes in use at each beginning of a step are compared, place by place. A place grows when they rise in the median,
hardly ever fall, and end higher than they began by nearly all that they moved: warming up in the first step, or shapes
that vary, do neither. What looks alike and is none:

    batches that grow            what is in use at a boundary is larger each time and replaced each time. So what the
                                 first steps made must still be there; or, where a place replaces its memory by more
                                 (a cache that is copied to a longer one), the rest of the step must grow by less.
    a loop that loads            everything that it makes stays. So in a loop that calls neither model nor optimizer
                                 half of what is allocated must be freed again.
    memory that changes hands    other places lose as much as these gain.
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
_KEPT = 0.25
"""Least share of the growth that the first half of the steps made and that stays; even growth gives a half."""
_MOST_BOUNDARIES = 512
"""Looked at, evenly spread over longer recordings, so that places times steps stay few."""
_GOES_ROUND = 0.5
"""Least share of the bytes allocated in a loop that are freed again, for it to be more than loading."""


def growth_of(case: Case) -> tuple[Growth, ...]:
    """What grows with every step up to the moment, the fastest first; empty where steps cannot be told apart."""
    if case.steps is None:
        return ()
    until = case.moment.event if case.moment.is_failure else case.recording.event_count
    boundaries = case.steps.boundaries[case.steps.boundaries <= until]
    if len(boundaries) < LEAST_STEPS + 1:
        return ()
    warm = boundaries[1:] if len(boundaries) > LEAST_STEPS + 1 else boundaries  # the first step warms up
    looked_at = warm[np.unique(np.linspace(0, len(warm) - 1, min(len(warm), _MOST_BOUNDARIES)).astype(np.int64))]
    least = max(LEAST_BYTES, LEAST_SHARE * case.facts.active_bytes)
    steps = _Steps(case, looked_at, least)
    if not case.steps.is_training and not steps.goes_round:
        return ()
    rise = np.diff(steps.live, axis=0)
    total = rise.sum(axis=0)
    moved = np.abs(rise).sum(axis=0)
    grows = (medians_of(rise) > 0) & ((rise > 0).mean(axis=0) >= _RISING)
    grows &= (total >= _ONE_WAY * moved) & (total >= least)
    grows &= steps.is_kept(total) | steps.is_alone(grows)
    grows[0] = False  # no place, but the sum of many
    if rise.sum() < _NET * total[grows].sum():
        return ()
    found = np.flatnonzero(grows)
    order = found[np.argsort(-total[found], kind="stable")]
    return tuple(_growth(case, int(number), steps.column, int(total[number]), len(warm) - 1) for number in order)


class _Steps:
    """What the steps between some boundaries allocate and keep, by place. Sizes are bytes.

    Each place that has something to show at the end is a column; all others are column 0 together.
    """

    def __init__(self, case: Case, boundaries: NDArray[np.int64], least_bytes: float) -> None:
        allocations = case.recording.trace.allocations
        self.count = len(boundaries) - 1
        self.size = allocations.size.astype(np.int64)
        # An allocation is in use at the boundaries [begin, end).
        self.begin = np.searchsorted(boundaries, allocations.alloc_event, side="right")
        self.end = np.searchsorted(boundaries, allocations.free_requested_event.astype(np.int64), side="right")
        place = case.stacks.place_of(allocations.stack)
        at_end = (self.begin <= self.count) & (self.end > self.count)
        large = np.bincount(place[at_end], weights=self.size[at_end], minlength=int(place.max(initial=0)) + 1)
        number = np.cumsum(large >= least_bytes)
        self.column: NDArray[np.int64] = np.where(large >= least_bytes, number, 0)[place]
        self.width = int(number[-1]) + 1
        self.live = self._live()

    def _live(self) -> NDArray[np.int64]:
        """In use at each boundary (rows) from each place (columns)."""
        lives = self.begin < self.end
        change = np.zeros((self.count + 2, self.width), dtype=np.int64)
        np.add.at(change, (self.begin[lives], self.column[lives]), self.size[lives])
        np.add.at(change, (self.end[lives], self.column[lives]), -self.size[lives])
        return np.cumsum(change, axis=0)[:-1]

    @property
    def goes_round(self) -> bool:
        """Whether much of what the steps allocate is freed again; a loop that only makes what stays loads something."""
        born_here = (self.begin > 0) & (self.begin <= self.count)
        freed = born_here & (self.end <= self.count)
        return bool(self.size[freed].sum() >= _GOES_ROUND * self.size[born_here].sum())

    def is_kept(self, total: NDArray[np.int64]) -> NDArray[np.bool_]:
        """By place: whether what the first half of the steps made is still in use at the end."""
        middle = self.count // 2
        old = (self.begin > 0) & (self.begin <= middle) & (self.end > self.count)
        kept = np.bincount(self.column[old], weights=self.size[old], minlength=self.width)
        found: NDArray[np.bool_] = np.greater_equal(kept, _KEPT * total)
        return found

    def is_alone(self, grows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """By place: whether it grows by more than all else that a step makes: larger batches make everything larger."""
        others = (self.begin > 0) & (self.begin <= self.count) & ~grows[self.column]
        work = np.bincount(self.begin[others], weights=self.size[others], minlength=self.count + 1)[1:]
        third = max(self.count // 3, 1)
        alone: NDArray[np.bool_] = np.less(
            work[-third:].mean() - work[:third].mean(),
            self.live[-third:].mean(axis=0) - self.live[:third].mean(axis=0),
        )
        return alone


def _growth(case: Case, number: int, column: NDArray[np.int64], total: int, steps: int) -> Growth:
    """The growth of a place, with the stack that holds most of it at the moment."""
    allocations = case.recording.trace.allocations
    alive = case.recording.alive_before(case.moment.event)
    mine = alive[column[alive] == number]
    if not len(mine):  # looked at before it grew
        mine = np.flatnonzero(column == number)
    stacks, of = np.unique(allocations.stack[mine], return_inverse=True)
    stack = int(stacks[np.argmax(np.bincount(of, weights=allocations.size[mine]))])
    return Growth(case.stacks.stack(stack), case.stacks.place(stack), round(total / steps), steps, total)
