"""How long allocations live, in phases of the program, and what that says about the stacks that made them.

Columns of allocations have one entry each; columns of stacks one each and a last one for none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.kinds.phases import Phase, Phases
from gapless.explain.sites import Site, site_of
from gapless.recording.recording import ACTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.stack_table import StackTable

WORKSPACE_BYTES = (8_519_680, 33_554_432)
"""Of cuBLAS, as PyTorch sizes them: up to compute capability 8.x, and 9.0."""
UNTOLD = -1
"""The recording ends before it could be seen."""
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Lives:
    """The lives of a recording's allocations."""

    stacks: StackTable
    phases: Phases

    @property
    def event_count(self) -> int:
        """Events of the recording."""
        return self.stacks.recording.event_count

    @cached_property
    def born(self) -> NDArray[np.int64]:
        """Event of the allocation; -1 before the recording."""
        return self.stacks.recording.trace.allocations.alloc_event

    @cached_property
    def died(self) -> NDArray[np.int64]:
        """Event at which the program let go; later than every event when it did not."""
        return self.stacks.recording.trace.allocations.free_requested_event.astype(np.int64)

    @cached_property
    def requested(self) -> NDArray[np.int64]:
        """Bytes asked for."""
        return self.stacks.recording.trace.allocations.requested.astype(np.int64)

    @cached_property
    def stack(self) -> NDArray[np.int64]:
        """Index of the stack in columns of stacks."""
        return self.stacks.rows(self.stacks.recording.trace.allocations.stack)

    @cached_property
    def run(self) -> NDArray[np.int64]:
        """Of `phases`, in which it was born; -1 before the recording."""
        return np.where(self.born >= 0, self.phases.run_of(self.born), -1)

    @cached_property
    def phase(self) -> NDArray[np.int64]:
        """In which it was born; before the recording: setup."""
        return np.where(self.run >= 0, self.phases.phase[np.maximum(self.run, 0)], Phase.SETUP)

    @cached_property
    def outlives(self) -> NDArray[np.int64]:
        """1 when it lives on after the run it was born in, 0 when not, or `UNTOLD`.

        What dies after everything that was ever allocated may only have been cleared away at the end of the program,
        and what dies after a request failed, by that.
        """
        runs = len(self.phases.begins)
        run = np.maximum(self.run, 0)
        over = self._over[run]
        ended = (self.died < self.event_count) | (self.run < runs - 1)
        found = np.where(ended, (self.died > over).astype(np.int64), UNTOLD)
        found[(over == _NEVER) & (self.died > self.born.max(initial=0))] = UNTOLD
        found[(found == 0) & self._spans_a_failure] = UNTOLD
        return found

    @property
    def _spans_a_failure(self) -> NDArray[np.bool_]:
        """Whether a request failed in its life: it may have died of that."""
        failures = self.stacks.recording.oom_events
        return np.less(np.searchsorted(failures, self.born), np.searchsorted(failures, self.died))

    @cached_property
    def _over(self) -> NDArray[np.int64]:
        """By run: the event after which what is left of it outlives it; `_NEVER` where the recording ends before.

        A forward pass or backward is over with its last allocation. The lists of an optimizer die after that, so its
        step is over when something else is allocated. After backward and the optimizer the reader's own code gets the
        next batch ready, which shows that they are over: gradients are gone by then.
        """
        runs = len(self.phases.begins)
        says = (self.run >= 0) & (self.phases.phase_of_stack[self.stack] == self.phase)
        says |= (self.run >= 0) & np.isin(self.phase, (Phase.SETUP, Phase.FORWARD))
        last = np.full(runs, -1, dtype=np.int64)
        np.maximum.at(last, self.run[says], self.born[says])
        births = np.append(np.sort(self.born[self.run >= 0]), _NEVER)
        something_else = births[np.searchsorted(births, last, side="right")]
        return np.where(self.phases.phase == Phase.OPTIMIZER, something_else, last)

    @cached_property
    def length(self) -> NDArray[np.int64]:
        """Requests and frees of the program between birth and end."""
        return self._count[np.minimum(self.died, self.event_count)] - self._count[np.maximum(self.born, 0)]

    def age(self, event: int) -> NDArray[np.int64]:
        """Requests and frees of the program between birth and an event; what the allocator does beside them is none."""
        age: NDArray[np.int64] = self._count[event] - self._count[np.maximum(self.born, 0)]
        return age

    @cached_property
    def _count(self) -> NDArray[np.int64]:
        """Of each event, and of the end: how many before it are requests or frees."""
        action = self.stacks.recording.events.action
        count: NDArray[np.int64] = np.cumsum(np.isin(action, (ACTION["alloc"], ACTION["free_requested"])))
        return np.concatenate([[0], count])

    @cached_property
    def last_run(self) -> NDArray[np.int64]:
        """Of `phases`, in which the program let go; the last one when it did not."""
        return self.phases.run_of(np.minimum(self.died, self.event_count))

    @cached_property
    def ends_in_backward(self) -> NDArray[np.bool_]:
        """Whether the program let go in a backward pass."""
        found: NDArray[np.bool_] = self.phases.phase[self.last_run] == Phase.BACKWARD
        return found & (self.died < self.event_count)

    @cached_property
    def meets_backward(self) -> NDArray[np.bool_]:
        """Whether a backward pass began while it lived."""
        passes = np.cumsum(self.phases.phase == Phase.BACKWARD)
        before = np.where(self.run >= 0, passes[np.maximum(self.run, 0)], 0)
        met: NDArray[np.bool_] = passes[self.last_run] > before
        return met

    @cached_property
    def belongs_to_a_step(self) -> NDArray[np.bool_]:
        """By stack: whether the same code comes again after the first forward pass began.

        Where there is no other pass yet, whether it stands beside the call of the model.
        """
        first = self.phases.first(Phase.FORWARD)
        width = self.stacks.count + 1
        if first is None:
            return np.zeros(width, dtype=bool)
        again: NDArray[np.bool_] = np.bincount(self.stack[self.born >= first], minlength=width) > 0
        again[-1] = False
        if np.count_nonzero(self.phases.phase == Phase.FORWARD) > 1:
            return again
        call = site_of(self.stacks.stack(int(self.stacks.recording.events.stack[first])))
        beside: list[bool] = [_is_beside(site_of(self.stacks.stack(stack)), call) for stack in range(self.stacks.count)]
        again |= np.array([*beside, False])
        return again


def _is_beside(site: Site, call: Site) -> bool:
    """Whether a site is in the same call of the same function as another one."""
    if not site.path or not call.path or len(site.path) != len(call.path) or site.callee == "module":
        return False
    (file, _, function), (other_file, _, other_function) = site.path[-1], call.path[-1]
    return site.path[:-1] == call.path[:-1] and (file, function) == (other_file, other_function)
