"""What memory in use is for: weights, gradients, optimizer state, activations, or something temporary.

Note [Kinds]

Three things are known of an allocation: what kind of code made it (`roles`), in which phase of the program it was born
and, where the recording goes on, in which it died (`phases`). Who outlives a phase tells what it is:

    born in setup                                       weights        (all of them again in twice the bytes: optimizer)
    born in a forward pass, needed after it             activations    (else temporary)
    born in backward, outlives it                       gradients      (else temporary)
    born in the optimizer, outlives it                  optimizer      (else temporary)
    made once beside it, of a weight's size, and kept   optimizer

At a failure there is no afterwards. Then earlier steps tell how long allocations of that place live (`habits`); what
backward has made so far is held against the sizes of the weights, the oldest first; an optimizer's code says whether it
makes state. Activations end in backward: what usually ends later is held by the program, as batches are, and is
temporary once backward is over; what usually meets no backward pass at all is temporary from the start.

Memory from before the recording is told by counting: see `earlier`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.among import among
from gapless.explain.finding import ACTIVATIONS, GRADIENTS, OPTIMIZER, TEMPORARY, UNKNOWN, WEIGHTS
from gapless.explain.kinds.lifetimes import UNTOLD, WORKSPACE_BYTES
from gapless.explain.kinds.memory_before import kinds_before, oldest_of_each_size
from gapless.explain.kinds.phases import Phase
from gapless.explain.kinds.stack_roles import OF_OPTIMIZER, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case


def kinds_of(case: Case) -> NDArray[np.int64]:
    """Per block of the state the index of its kind in ``KINDS``; free blocks are unknown."""
    kinds = np.full(len(case.sizes), UNKNOWN, dtype=np.int64)
    known = np.flatnonzero(~case.is_free & (case.state.allocation != _core.NO_ALLOCATION))
    of_allocation = np.full(len(case.recording.trace.allocations), UNKNOWN, dtype=np.int64)
    alive = case.state.allocation[known].astype(np.int64)
    of_allocation[alive] = _Sorting(case, alive).kinds()
    kinds[known] = of_allocation[alive]
    rest = np.flatnonzero(~case.is_free & (case.state.allocation == _core.NO_ALLOCATION))
    roles = case.phases.roles[case.stacks.rows(case.block_stacks[rest])]
    kinds[rest] = _BY_ROLE[roles]
    return kinds


_BY_ROLE = np.array(
    [
        UNKNOWN,
        UNKNOWN,
        WEIGHTS,
        ACTIVATIONS,
        GRADIENTS,
        OPTIMIZER,
        OPTIMIZER,
        OPTIMIZER,
        GRADIENTS,
        TEMPORARY,
        UNKNOWN,
    ],
    dtype=np.int64,
)
"""What memory of a role is, as long as nothing is known of its life."""
_CASTS = 3
"""Of a layer's input, its weight and its bias."""
_LEAST_COPIES = 3
_NEARLY = 0.9


class _Sorting:
    """Sorts the allocations that are alive at the moment. Columns have one entry for each of them."""

    def __init__(self, case: Case, alive: NDArray[np.int64]) -> None:
        self.case, self.alive, self.phases, self.lives = case, alive, case.phases, case.lives
        self.stack = self.lives.stack[alive]
        self.role = self.phases.roles[self.stack]
        self.phase = self.lives.phase[alive]
        self.requested = self.lives.requested[alive]
        self.run = self.lives.run[alive]
        self.outlives = self.lives.outlives[alive]
        self.usual = case.habits.usually_outlives[alive]
        self.short = case.habits.longest_short_life[alive]
        self.age = self.lives.age(case.moment.event)[alive]

    def kinds(self) -> NDArray[np.int64]:
        """Of each, the index in ``KINDS``."""
        kinds = _BY_ROLE[self.role]
        if not self.phases.has(Phase.FORWARD):
            return kinds
        seen, plain = self.run >= 0, np.isin(self.role, (Role.NONE, Role.OTHER))
        in_backward = (self.phase == Phase.BACKWARD) & plain
        in_setup = seen & plain & (self.phase == Phase.SETUP)
        self._born_in_setup(kinds, in_setup)
        self._born_in_optimizer(kinds, seen & np.isin(self.role, OF_OPTIMIZER))
        self._born_in_backward(kinds, seen & (in_backward | (self.role == Role.BACKWARD)))
        rest = seen & ((plain & ~in_backward) | (self.role == Role.FORWARD)) & ~in_setup
        self._born_in_forward(kinds, rest)
        kinds[rest & (self.phase == Phase.BACKWARD) & (self.outlives == 1)] = GRADIENTS  # compiled, or computed again
        self._born_before(kinds, ~seen & plain)
        self._workspaces(kinds)
        return kinds

    def _born_in_setup(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        """Weights, but for what belongs to the first step: inputs that come again, or made beside the model's call."""
        kinds[mine] = np.where(self.lives.belongs_to_a_step[self.stack], ACTIVATIONS, WEIGHTS)[mine]
        weights = kinds == WEIGHTS
        for stack in sorted(set(self.stack[mine].tolist())):
            own = mine & (self.stack == stack)
            if _are_twice(self.requested[own], self.requested[weights & ~own]):
                kinds[own] = OPTIMIZER

    def _born_in_forward(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        """Where the end is not told: what is older than any of its place that died young is going to be kept."""
        guess = (self.age > self.short) | (self.usual == 1)
        outlives = np.where(self.outlives == UNTOLD, guess, self.outlives == 1)
        habits = self.case.habits
        held = habits.usually_outlives_backward[self.alive] == 1
        held &= self._backwards_over(kinds) | self._is_cast()
        if self.phases.has(Phase.BACKWARD):
            held |= habits.usually_meets_backward[self.alive] == 0
        else:
            held |= (self.role == Role.OTHER) & (habits.usually_ends_soon[self.alive] == 1)
        kinds[mine] = np.where(outlives & ~held, ACTIVATIONS, TEMPORARY)[mine]
        once = habits.comes_once[self.alive] & np.isin(self.phase, (Phase.BETWEEN, Phase.OPTIMIZER))
        like_weight = among(self.requested, self.requested[kinds == WEIGHTS])
        kinds[mine & once & like_weight & (self.outlives == 1)] = OPTIMIZER

    def _backwards_over(self, kinds: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether a backward pass began and ended since; the last one has when it left as much as others."""
        now = int(self.phases.run_of(np.array([self.case.moment.event - 1]))[0])
        left, usual = self.requested[(kinds == GRADIENTS) & (self.run == now)].sum(), self.case.gradients.sizes.sum()
        complete = usual > 0 and left >= _NEARLY * usual
        over = np.flatnonzero(self.phases.phase[: now + complete] == Phase.BACKWARD)
        return np.less(self.run, over[-1] if len(over) else -1)

    def _is_cast(self) -> NDArray[np.bool_]:
        """Whether the model's first layer makes something half as large next: the copy is what autocast keeps."""
        lives = self.lives
        calls = np.flatnonzero((self.phases.roles[lives.stack] == Role.FORWARD) & (lives.born >= 0))
        following = np.searchsorted(lives.born[calls], lives.born[self.alive])
        sizes = np.concatenate([lives.requested[calls], np.zeros(_CASTS, dtype=np.int64)])
        halves = [2 * sizes[following + k] == self.requested for k in range(_CASTS)]
        found: NDArray[np.bool_] = np.any(halves, axis=0) & (self.role == Role.OTHER)
        return found

    def _born_in_optimizer(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        """Where the end is not told: lines that make state lose nothing, but lists of temporaries live all at once."""
        keeps = (self.short < 0) & (self.role != Role.OPTIMIZER_LISTS)
        guess = np.where(self.usual == UNTOLD, keeps, self.usual == 1)
        outlives = np.where(self.outlives == UNTOLD, guess, self.outlives == 1)
        kinds[mine] = np.where(outlives, OPTIMIZER, TEMPORARY)[mine]

    def _born_in_backward(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        """What another backward pass uses up is none of the gradients of weights: derivatives of derivatives."""
        used_up = self.case.habits.usually_ends_in_later_backward[self.alive] == 1
        used_up &= ~among(self.requested, self.requested[kinds == WEIGHTS])
        kinds[mine] = np.where(self.outlives == 1, np.where(used_up, ACTIVATIONS, GRADIENTS), TEMPORARY)[mine]
        open_ends = np.flatnonzero(mine & (self.outlives == UNTOLD))
        weights = self.requested[kinds == WEIGHTS]
        allowed = weights if len(weights) else self.case.gradients.sizes
        chosen = oldest_of_each_size(self.requested[open_ends], allowed, self.requested[kinds == GRADIENTS])
        kinds[open_ends[chosen]] = GRADIENTS

    def _born_before(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        kinds[mine] = kinds_before(self.lives, self.case.gradients, self.alive[mine])

    def _workspaces(self, kinds: NDArray[np.int64]) -> None:
        """Each thread's matrix library takes one workspace when it first multiplies, and keeps it.

        A gradient may have that size. It comes later in its pass, and is gone when those of other sizes are.
        """
        sized = np.isin(self.requested, WORKSPACE_BYTES)
        of_weights = np.count_nonzero(sized & (kinds == WEIGHTS))
        for phase in (Phase.FORWARD, Phase.BACKWARD):
            runs = np.flatnonzero(self.phases.phase == phase)
            like = np.flatnonzero(sized & (self.run == runs[0])) if len(runs) else runs
            others = len(runs) and ((kinds == GRADIENTS) & ~sized & (self.run == runs[0])).any()
            gradients = of_weights if phase is Phase.BACKWARD and others else 0
            if len(like) == gradients + 1:
                kinds[like[np.argmin(self.lives.born[self.alive[like]])]] = TEMPORARY


def _are_twice(sizes: NDArray[np.int64], halves: NDArray[np.int64]) -> bool:
    """Whether sizes are those of `halves` in twice the precision, nearly all of both."""
    matched = sizes[oldest_of_each_size(sizes, 2 * halves, halves[:0])]
    return len(matched) >= _LEAST_COPIES and matched.sum() >= _NEARLY * max(sizes.sum(), 2 * halves.sum())
