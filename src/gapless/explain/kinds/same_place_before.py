"""Habits: what became of the allocations that took the same place before.

Note [Habits]

A line that allocates does so more than once: a linear layer under autocast casts its weight, which stays, and makes its
output, which may not. Layers of one class share their lines. So a stack alone tells little. A program comes round in
the same order, though: the place of an allocation is its stack, the stack of the allocations before it, and how many of
its own stack stand between. Sizes and the number of layers or of words may vary; places do not.

Columns have one entry for each allocation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.kinds.lifetimes import UNTOLD, Lives

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Habits:
    """The habits of a recording's code."""

    lives: Lives

    @cached_property
    def place(self) -> NDArray[np.int64]:
        """Number of the place; what was allocated before the recording has one of its own."""
        seen = np.flatnonzero(self.lives.born >= 0)
        stack = self.lives.stack[seen]
        begins = np.flatnonzero(np.diff(stack, prepend=-1))
        burst = np.cumsum(np.diff(stack, prepend=-1) != 0) - 1
        before = np.concatenate([[-1], stack[begins[1:] - 1]]) if len(begins) else begins
        index = np.arange(len(stack)) - begins[burst]
        keys = np.stack([stack, before[burst] + 1, index])
        found = np.zeros(len(self.lives.born), dtype=np.int64)
        found[seen] = _numbered(keys) + 1
        return found

    @cached_property
    def usually_outlives(self) -> NDArray[np.int64]:
        """Whether at least half of those at its place in runs that are over did; else of its stack's; or `UNTOLD`."""
        lives = self.lives
        over = (lives.outlives != UNTOLD) & (lives.run >= 0) & (lives.run < len(lives.phases.begins) - 1)
        of_place = _mostly(self.place, over, lives.outlives == 1)
        return np.where(of_place == UNTOLD, _mostly(lives.stack, over, lives.outlives == 1), of_place)

    @cached_property
    def usually_outlives_backward(self) -> NDArray[np.int64]:
        """Whether those at its place, else of its stack, that outlived their run ended outside of backward mostly."""
        return self._of_the_kept(~self.lives.ends_in_backward)

    @cached_property
    def usually_meets_backward(self) -> NDArray[np.int64]:
        """Whether for those, mostly, a backward pass began while they lived."""
        return self._of_the_kept(self.lives.meets_backward)

    @cached_property
    def usually_ends_in_later_backward(self) -> NDArray[np.int64]:
        """Whether those ended in a backward pass mostly, and not in that which made them."""
        lives = self.lives
        return self._of_the_kept(lives.ends_in_backward & (lives.last_run > lives.run))

    @cached_property
    def usually_ends_soon(self) -> NDArray[np.int64]:
        """Whether those ended in the next run mostly, or in their own."""
        return self._of_the_kept(self.lives.last_run <= self.lives.run + 1)

    @cached_property
    def longest_short_life(self) -> NDArray[np.int64]:
        """The length of the longest at its place that did not outlive its run, else of its stack; or -1."""
        lives, short = self.lives, self.lives.outlives == 0
        of_place = _longest(self.place, short, lives.length)
        return np.where(of_place < 0, _longest(lives.stack, short, lives.length), of_place)

    @cached_property
    def comes_once(self) -> NDArray[np.bool_]:
        """Whether its stack allocated in one run only."""
        lives = self.lives
        seen = lives.run >= 0
        width = int(lives.stack.max(initial=0)) + 1
        first = np.full(width, np.iinfo(np.int64).max)
        last = np.full(width, -1, dtype=np.int64)
        np.minimum.at(first, lives.stack[seen], lives.run[seen])
        np.maximum.at(last, lives.stack[seen], lives.run[seen])
        once: NDArray[np.bool_] = (first == last)[lives.stack] & seen
        return once

    def _of_the_kept(self, so: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Of those that outlived their run and ended, mostly; a stack stands for its places only while they are new."""
        lives = self.lives
        ended = (lives.outlives == 1) & (lives.run >= 0) & (lives.died < lives.event_count)
        of_place, is_new = _mostly(self.place, ended, so), np.bincount(self.place)[self.place] == 1
        return np.where(is_new & (of_place == UNTOLD), _mostly(lives.stack, ended, so), of_place)


def _numbered(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Equal columns get equal numbers from 0 on."""
    number = np.zeros(keys.shape[1], dtype=np.int64)
    for key in keys:
        _, number = np.unique(number * (int(key.max(initial=0)) + 1) + key, return_inverse=True)
    return number


def _mostly(group: NDArray[np.int64], counted: NDArray[np.bool_], so: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Of each, whether at least half of those of its group that are counted are so; `UNTOLD` where none counts."""
    width = int(group.max(initial=0)) + 1
    total = np.bincount(group[counted], minlength=width)
    yes = np.bincount(group[counted & so], minlength=width)
    return np.where(total > 0, (2 * yes >= total).astype(np.int64), UNTOLD)[group]


def _longest(group: NDArray[np.int64], counted: NDArray[np.bool_], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each, the greatest length of those of its group that are counted; -1 where none counts."""
    longest = np.full(int(group.max(initial=0)) + 1, -1, dtype=np.int64)
    np.maximum.at(longest, group[counted], length[counted])
    return longest[group]
