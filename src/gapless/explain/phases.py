"""Phases: runs of events in which the program is in a forward pass, in backward, or in the optimizer.

Note [Phases]

Each allocation says by its stack where the program is; one that does not say belongs to the phase before it. The
threads of autograd leave no frames of Python, so what has none, in a recording that has stacks, is backward once a
forward pass was seen. A forward pass that runs on such a thread (recomputation for a checkpoint) is backward too.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.roles import OF_OPTIMIZER, Role, role_of
from gapless.explain.sites import NOWHERE, site_of
from gapless.recording.recording import ACTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.stack_table import StackTable


class Phase(IntEnum):
    """Where the program is."""

    SETUP = 0
    """Before the first forward pass."""
    FORWARD = 1
    BACKWARD = 2
    OPTIMIZER = 3


_PHASE_OF_ROLE = {
    Role.FORWARD: Phase.FORWARD,
    Role.BACKWARD: Phase.BACKWARD,
    **dict.fromkeys(OF_OPTIMIZER, Phase.OPTIMIZER),
}


@dataclass(frozen=True, eq=False)
class Phases:
    """Runs of one phase each, in order of event."""

    begins: NDArray[np.int64]
    """The first event of each run; the first run begins at event 0."""
    phase: NDArray[np.int64]
    """Of each run."""
    roles: NDArray[np.int64]
    """Of each stack; the last entry: no stack."""
    phase_of_stack: NDArray[np.int64]
    """That a stack tells of itself, setup where it tells none; the last entry: no stack."""

    def run_of(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """The run of events; -1 for what was before the recording."""
        return np.searchsorted(self.begins, events, side="right") - 1

    def has(self, phase: Phase) -> bool:
        """Whether a phase occurs."""
        return bool((self.phase == phase).any())

    def first(self, phase: Phase) -> int | None:
        """The first event of a phase; None when it does not occur."""
        found = self.begins[self.phase == phase]
        return int(found[0]) if len(found) else None


def phases_of(stacks: StackTable) -> Phases:
    """The phases of a recording; one run of setup where stacks tell nothing."""
    roles, phase_of_stack = _by_stack(stacks)
    allocs = np.flatnonzero(stacks.recording.events.action == ACTION["alloc"])
    said = phase_of_stack[stacks.rows(stacks.recording.events.stack[allocs])]
    forward = np.flatnonzero(said == Phase.FORWARD)
    if not len(forward):
        return Phases(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), roles, phase_of_stack)
    said[: forward[0]] = np.where(said[: forward[0]] == Phase.OPTIMIZER, Phase.OPTIMIZER, Phase.SETUP)
    last = np.maximum.accumulate(np.where(said > Phase.SETUP, np.arange(len(said)), 0))
    phase = said[last]
    begins = np.flatnonzero(np.diff(phase, prepend=-1))
    events = allocs[begins]
    events[0] = 0
    return Phases(events, phase[begins], roles, phase_of_stack)


def _by_stack(stacks: StackTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Role and phase of each stack, and of none as the last."""
    roles = np.zeros(stacks.count + 1, dtype=np.int64)
    phases = np.zeros(stacks.count + 1, dtype=np.int64)
    for number in range(stacks.count):
        stack = stacks.stack(number)
        role = role_of(stack)
        roles[number] = role
        phases[number] = _PHASE_OF_ROLE.get(role, Phase.SETUP)
        if role is Role.NONE or (role is Role.FORWARD and site_of(stack) == NOWHERE):
            phases[number] = Phase.BACKWARD
    phases[-1] = Phase.BACKWARD
    return roles, phases
