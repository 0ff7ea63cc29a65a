"""Training steps, told apart from the trace alone.

Note [Telling steps apart]

Rationale: growth, lifetimes and "a whole step after the failure" all need to know where a step begins. Nothing in a
recording says so, but a loop shows in the stacks: its sites come again and again (see `sites`).

Approach: consecutive allocations of one site form a run. An anchor is a site whose runs cut the recording into cycles
that look alike (the same stacks, about equally often). Candidates are tried from the surest: the optimizer's site (a
step ends with its run), then calls of the model, first those that backward follows, then any other loop that takes up
most of the recording, each by bytes. Shapes may vary; stacks repeat.

Limits: one cycle of the innermost loop that calls the model is a step, so with accumulated gradients and an optimizer
that allocates nothing a micro-batch is one. Without stacks nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gapless.explain.median import median_of
from gapless.explain.sites import NOWHERE, Callee, Site, site_of
from gapless.recording.recording import ACTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.stack_table import StackTable

_CANDIDATES = 24
_MOSTLY, _PARTLY = 0.4, 0.2
"""Least share of the allocations in cycles of usual length, for a loop that does not train; less for a model's."""
_USUAL = 3
"""Times the median length up to which a cycle is usual."""
_LIKE = 0.7
"""Least likeness of cycles that follow each other, in the median."""
_LEAST_CYCLES: dict[Callee, int] = {"optimizer": 1}
_LEAST_CYCLES_OTHERWISE = 2
_PREFERENCE: tuple[Callee, ...] = ("optimizer", "module", "backward", "torch", "")


@dataclass(frozen=True, eq=False)
class Steps:
    """Where steps begin: step k is the events [boundaries[k], boundaries[k + 1])."""

    boundaries: NDArray[np.int64]
    site: Site
    """Whose runs end them (the optimizer's) or begin them."""

    @property
    def is_training(self) -> bool:
        """Whether model or optimizer mark them; else they are cycles of some loop."""
        return self.site.callee in ("optimizer", "module")

    @property
    def count(self) -> int:
        """Whole steps recorded."""
        return max(len(self.boundaries) - 1, 0)

    def whole_steps_after(self, event: int) -> int:
        """Whole steps that begin at an event or later."""
        return max(int((self.boundaries >= event).sum()) - 1, 0)

    def steps_of(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """The step of each event, as ``step_of``; -1 before the first boundary."""
        return np.searchsorted(self.boundaries, events, side="right") - 1

    def step_of(self, event: int) -> int | None:
        """The step of an event; None before the first boundary. After the last one: ``count``."""
        step = int(np.searchsorted(self.boundaries, event, side="right")) - 1
        return step if step >= 0 else None


def steps_of(stacks: StackTable) -> Steps | None:
    """The steps of a recording; None where they cannot be told apart."""
    allocs = np.flatnonzero(stacks.recording.events.action == ACTION["alloc"])
    if not len(allocs):
        return None
    stack = stacks.rows(stacks.recording.events.stack[allocs])
    known, of_stack = _sites(stacks)
    site = of_stack[stack]
    begins = np.flatnonzero(np.diff(site, prepend=-1))
    trains = _trains(known, site[begins])
    weight = np.bincount(site, weights=stacks.recording.events.size[allocs], minlength=len(known))
    for candidate in _candidates(known, site[begins], weight, trains):
        boundaries = _boundaries(known[candidate], candidate, site, begins)
        if _is_loop(boundaries, stack, known[candidate].callee, is_sure=bool(trains[candidate])):
            return Steps(_events(boundaries, allocs), known[candidate])
    return None


def _is_loop(boundaries: NDArray[np.int64], stack: NDArray[np.int64], callee: Callee, *, is_sure: bool) -> bool:
    length = np.diff(boundaries)
    if len(length) < _LEAST_CYCLES.get(callee, _LEAST_CYCLES_OTHERWISE):
        return False
    if not is_sure:
        usual = length[length <= _USUAL * median_of(length)]
        if usual.sum() < (_PARTLY if callee == "module" else _MOSTLY) * len(stack):
            return False
    is_training = callee in ("optimizer", "module")
    return len(length) < 2 or _likeness(boundaries, stack, of_shorter=is_training) >= _LIKE


def _sites(stacks: StackTable) -> tuple[list[Site], NDArray[np.int64]]:
    """The distinct sites, `NOWHERE` first, and for each stack (a last one for none) the index of its site."""
    numbers = {NOWHERE: 0}
    of_stack = [numbers.setdefault(site_of(stacks.stack(stack)), len(numbers)) for stack in range(stacks.count)]
    return list(numbers), np.array([*of_stack, 0], dtype=np.int64)


def _candidates(
    known: list[Site], site_of_run: NDArray[np.int64], weight: NDArray[Any], trains: NDArray[np.bool_]
) -> list[int]:
    """Sites that could be anchors, the surest first."""
    runs = np.bincount(site_of_run, minlength=len(known))
    able = [
        number
        for number in range(1, len(known))
        if runs[number] > _LEAST_CYCLES.get(known[number].callee, _LEAST_CYCLES_OTHERWISE)
    ]
    able.sort(key=lambda number: (_PREFERENCE.index(known[number].callee), not trains[number], -weight[number]))
    return able[:_CANDIDATES]


def _trains(known: list[Site], site_of_run: NDArray[np.int64]) -> NDArray[np.bool_]:
    """By site: the optimizer's, or a model's most of whose runs backward follows before a model is called again."""
    calls = np.array([site.callee == "module" for site in known])[site_of_run]
    back = np.array([site.callee == "backward" or site == NOWHERE for site in known])[site_of_run]
    marks = np.flatnonzero(calls | back)
    following = np.append(back[marks[1:]], False)[: len(marks)]
    is_call = calls[marks]
    runs = np.bincount(site_of_run[marks[is_call]], minlength=len(known))
    followed = np.bincount(site_of_run[marks[is_call]], weights=following[is_call], minlength=len(known))
    found: NDArray[np.bool_] = np.array([site.callee == "optimizer" for site in known])
    found |= 2 * followed > runs
    return found


def _boundaries(site: Site, number: int, sites: NDArray[np.int64], begins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indices into the allocations: where the runs of a site end (the optimizer's), or begin."""
    mine = np.flatnonzero(sites[begins] == number)
    if site.callee == "optimizer":
        return np.append(begins, len(sites))[mine + 1]
    return begins[mine]


def _likeness(boundaries: NDArray[np.int64], stack: NDArray[np.int64], *, of_shorter: bool) -> float:
    """How much cycles that follow each other hold the same stacks equally often: 0 to 1, in the median.

    Of the shorter of two, where what comes between steps (an evaluation after every other one) must not count.
    """
    cycles = len(boundaries) - 1
    token = stack[int(boundaries[0]) : int(boundaries[-1])]
    width = int(token.max()) + 1
    length = np.diff(boundaries)
    cycle = np.repeat(np.arange(cycles), length)
    key, counts = np.unique(cycle * width + token, return_counts=True)
    # Counts in common with the next cycle: each (cycle, stack) is looked up as (cycle + 1, stack).
    following = key + width
    place = np.searchsorted(key, following).clip(max=len(key) - 1)
    common = np.where(key[place] == following, np.minimum(counts, counts[place]), 0)
    shared = np.bincount(key // width, weights=common, minlength=cycles)[:-1]
    longer = (np.minimum if of_shorter else np.maximum)(length[:-1], length[1:])
    if length[0] <= _USUAL * length[1]:
        longer[0] = length[1]  # the first step makes the optimizer's state as well
    return median_of(shared / longer)


def _events(boundaries: NDArray[np.int64], allocs: NDArray[np.int64]) -> NDArray[np.int64]:
    """Boundaries among allocations as events; one past the last allocation is the event after it."""
    return np.append(allocs, allocs[-1] + 1)[boundaries]
