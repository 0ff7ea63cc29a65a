"""What memory in use is for: weights, gradients, optimizer state, activations, or something temporary.

Note [Kinds]

Three things are known of an allocation: what kind of code made it (`roles`), in which phase of the program it was born
and, where the recording goes on, in which it died (`phases`). Who outlives a phase tells what it is:

    born in setup                                       weights
    born in a forward pass, needed after it             activations    (else temporary)
    born in backward, outlives it                       gradients      (else temporary)
    born in the optimizer, outlives it                  optimizer      (else temporary)

At a failure there is no afterwards. Then earlier steps tell how long allocations of that stack live; what backward has
made so far is held against the sizes of the weights, the oldest first; an optimizer's code says whether it makes state.

Memory from before the recording has no stack. What is freed in backward was activations, what is freed between steps
gradients; of the rest, as much of each size as there are gradients is weights, and the others optimizer state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.finding import KINDS
from gapless.explain.lives import UNTOLD, WORKSPACE_BYTES
from gapless.explain.phases import Phase
from gapless.explain.roles import OF_OPTIMIZER, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case

WEIGHTS, GRADIENTS, OPTIMIZER, ACTIVATIONS, TEMPORARY, UNKNOWN = range(len(KINDS))


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
    [UNKNOWN, UNKNOWN, WEIGHTS, ACTIVATIONS, GRADIENTS, OPTIMIZER, OPTIMIZER, OPTIMIZER, GRADIENTS, TEMPORARY],
    dtype=np.int64,
)
"""What memory of a role is, as long as nothing is known of its life."""


class _Sorting:
    """Sorts the allocations that are alive at the moment. Columns have one entry for each of them."""

    def __init__(self, case: Case, alive: NDArray[np.int64]) -> None:
        self.phases, self.lives, self.event_count = case.phases, case.lives, case.recording.event_count
        self.stack = self.lives.stack[alive]
        self.role = self.phases.roles[self.stack]
        self.phase = self.lives.phase[alive]
        self.requested = self.lives.requested[alive]
        self.died = self.lives.died[alive]
        self.run = self.lives.run[alive]
        self.outlives = self.lives.outlives[alive]
        self.age = case.moment.event - self.lives.born[alive]

    def kinds(self) -> NDArray[np.int64]:
        """Of each, the index in ``KINDS``."""
        kinds = _BY_ROLE[self.role]
        if not self.phases.has(Phase.FORWARD):
            return kinds
        seen, plain = self.run >= 0, np.isin(self.role, (Role.NONE, Role.OTHER))
        in_backward = (self.phase == Phase.BACKWARD) & (self.role == Role.NONE)
        self._born_in_setup(kinds, seen & plain & (self.phase == Phase.SETUP))
        self._born_in_forward(
            kinds, seen & (self.phase != Phase.SETUP) & ~in_backward & (plain | (self.role == Role.FORWARD))
        )
        self._born_in_optimizer(kinds, seen & np.isin(self.role, OF_OPTIMIZER))
        self._born_in_backward(kinds, seen & (in_backward | (self.role == Role.BACKWARD)))
        self._born_before(kinds, ~seen & plain)
        self._workspaces(kinds)
        return kinds

    def _born_in_setup(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        """Weights, but for what belongs to the first step: inputs that come again, or made beside the model's call."""
        kinds[mine] = np.where(self.lives.belongs_to_a_step[self.stack], ACTIVATIONS, WEIGHTS)[mine]

    def _born_in_forward(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        """Where the end is not told: what is older than any of its stack that died young is going to be kept."""
        usual = self.lives.usually_outlives[self.stack]
        short = self.lives.longest_short_life[self.stack]
        guess = (self.age > short) | (usual == 1)
        outlives = np.where(self.outlives == UNTOLD, guess, self.outlives == 1)
        kinds[mine] = np.where(outlives, ACTIVATIONS, TEMPORARY)[mine]

    def _born_in_optimizer(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        """Where the end is not told: lines that make state lose nothing, but lists of temporaries live all at once."""
        usual = self.lives.usually_outlives[self.stack]
        keeps = (self.lives.longest_short_life[self.stack] < 0) & (self.role != Role.OPTIMIZER_LISTS)
        guess = np.where(usual == UNTOLD, keeps | (self.role == Role.OPTIMIZER_STATE), usual == 1)
        outlives = np.where(self.outlives == UNTOLD, guess, self.outlives == 1)
        kinds[mine] = np.where(outlives, OPTIMIZER, TEMPORARY)[mine]

    def _born_in_backward(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        kinds[mine] = np.where(self.outlives == 1, GRADIENTS, TEMPORARY)[mine]
        open_ends = np.flatnonzero(mine & (self.outlives == UNTOLD))
        weights = self.requested[kinds == WEIGHTS]
        allowed = weights if len(weights) else self.lives.gradient_sizes
        chosen = _oldest_of_each_size(self.requested[open_ends], allowed, self.requested[kinds == GRADIENTS])
        kinds[open_ends[chosen]] = GRADIENTS

    def _born_before(self, kinds: NDArray[np.int64], mine: NDArray[np.bool_]) -> None:
        """See the last paragraph of Note [Kinds]."""
        gradients, dies = self.lives.gradient_sizes, self.died < self.event_count
        like_gradient = np.isin(self.requested, gradients)
        dies_in = self.phases.phase[self.phases.run_of(np.minimum(self.died, self.event_count))]
        freed = np.where(like_gradient & (dies_in != Phase.BACKWARD), GRADIENTS, ACTIVATIONS)
        kinds[mine & dies] = freed[mine & dies]
        stays = np.flatnonzero(mine & ~dies)
        if not self.phases.has(Phase.BACKWARD):
            kinds[stays] = WEIGHTS
        elif len(gradients):
            kinds[stays] = np.where(like_gradient[stays], OPTIMIZER, WEIGHTS)
            kinds[stays[_oldest_of_each_size(self.requested[stays], gradients, gradients[:0])]] = WEIGHTS

    def _workspaces(self, kinds: NDArray[np.int64]) -> None:
        """Each thread's matrix library takes one workspace when it first multiplies, and keeps it."""
        for phase in (Phase.FORWARD, Phase.BACKWARD):
            first = self.phases.run_of(np.array([self.phases.first(phase) or 0]))[0]
            like = np.isin(self.requested, WORKSPACE_BYTES) & (self.phase == phase) & (self.run == first)
            if like.sum() == 1 and self.phases.has(phase):
                kinds[like] = TEMPORARY


def _oldest_of_each_size(
    sizes: NDArray[np.int64], allowed: NDArray[np.int64], taken: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Indices of the first of each size, as many as `allowed` has of it and `taken` has not."""
    values, counts = np.unique(allowed, return_counts=True)
    if not len(values) or not len(sizes):
        return np.zeros(0, dtype=np.int64)
    used = np.searchsorted(values, taken)
    used = used[(used < len(values)) & (values[np.minimum(used, len(values) - 1)] == taken)]
    counts = counts - np.bincount(used, minlength=len(values))
    order = np.argsort(sizes, kind="stable")
    in_order = sizes[order]
    rank = np.arange(len(sizes)) - np.searchsorted(in_order, in_order)
    place = np.searchsorted(values, in_order).clip(max=len(values) - 1)
    chosen: NDArray[np.bool_] = (values[place] == in_order) & (rank < counts[place])
    return order[chosen]
