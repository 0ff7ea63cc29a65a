"""Phases: runs of events in which the program is in a forward pass, in backward, or in the optimizer.

Note [Phases]

Each allocation says by its stack where the program is; one that does not say belongs to the phase before it. The
threads of autograd leave no frames of Python, so what has none, in a recording that has stacks, is backward once a
forward pass was seen. What such a thread runs in Python begins inside torch (recomputation for a checkpoint, functions
with a backward of their own) and is backward too. The program waits for these threads: when its own thread allocates
again, backward is over.

A program that trains without a Module of torch shows its forward pass by what it allocates in step after step.

Where nothing is backward, each call of the model is a run of its own, as far as steps can be told apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.kinds.stack_roles import OF_OPTIMIZER, Role, role_of
from gapless.explain.sites import NOWHERE, Site, site_of
from gapless.recording.recording import ACTION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.stack_table import StackTable
    from gapless.explain.steps import Steps


class Phase(IntEnum):
    """Where the program is."""

    SETUP = 0
    """Before the first forward pass."""
    FORWARD = 1
    BACKWARD = 2
    OPTIMIZER = 3
    BETWEEN = 4
    """After backward or the optimizer: the program's own code, up to what comes next."""


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
    """That a stack tells of itself, between for other code of the same thread, else setup; the last entry: no stack."""

    def run_of(self, events: NDArray[np.int64]) -> NDArray[np.int64]:
        """The run of events; -1 for what was before the recording."""
        return np.searchsorted(self.begins, events, side="right") - 1

    def has(self, phase: Phase) -> bool:
        """Whether a phase occurs."""
        return bool((self.phase == phase).any())

    def is_backward(self, event: int) -> bool:
        """Whether an event lies in a backward pass."""
        return bool(self.phase[np.searchsorted(self.begins, event, side="right") - 1] == Phase.BACKWARD)

    def first(self, phase: Phase) -> int | None:
        """The first event of a phase; None when it does not occur."""
        found = self.begins[self.phase == phase]
        return int(found[0]) if len(found) else None


def phases_of(stacks: StackTable, steps: Steps | None) -> Phases:
    """The phases of a recording; one run of setup where stacks tell nothing."""
    roles, phase_of_stack = _by_stack(stacks)
    allocs = np.flatnonzero(stacks.recording.events.action == ACTION["alloc"])
    stack = stacks.rows(stacks.recording.events.stack[allocs])
    if Role.FORWARD not in roles and np.isin(roles, (*OF_OPTIMIZER, Role.BACKWARD)).any() and steps is not None:
        comes_again = _comes_again(stack, steps.steps_of(allocs), len(roles))
        phase_of_stack[comes_again & (roles == Role.OTHER)] = Phase.FORWARD
    said = phase_of_stack[stack]
    forward = np.flatnonzero(said == Phase.FORWARD)
    if not len(forward):
        return Phases(np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), roles, phase_of_stack)
    said[: forward[0]] = np.where(said[: forward[0]] == Phase.OPTIMIZER, Phase.OPTIMIZER, Phase.SETUP)
    phase = _carried(said)
    begins = np.flatnonzero(np.diff(phase, prepend=-1))
    if steps is not None and steps.is_training and not (phase == Phase.BACKWARD).any():
        cuts = np.searchsorted(allocs, steps.boundaries)
        is_begin = np.zeros(len(allocs) + 1, dtype=bool)
        is_begin[begins] = is_begin[cuts[cuts > forward[0]]] = True
        begins = np.flatnonzero(is_begin[:-1])
    events = allocs[begins]
    events[0] = 0
    return Phases(events, phase[begins], roles, phase_of_stack)


def _comes_again(stack: NDArray[np.int64], step: NDArray[np.int64], width: int) -> NDArray[np.bool_]:
    """By stack: whether it allocates in more than one step."""
    first, last = np.full(width, len(stack)), np.full(width, -1)
    np.minimum.at(first, stack, step)
    np.maximum.at(last, stack, step)
    again: NDArray[np.bool_] = first < last
    return again


def _carried(said: NDArray[np.int64]) -> NDArray[np.int64]:
    """The phase of each allocation: what it says itself, or what the one before it said."""
    tells = (said > Phase.SETUP) & (said < Phase.BETWEEN)
    last = np.maximum.accumulate(np.where(tells, np.arange(len(said)), 0))
    phase = said[last]
    of_program = np.cumsum(said == Phase.BETWEEN)
    phase[np.isin(phase, (Phase.BACKWARD, Phase.OPTIMIZER)) & (of_program > of_program[last])] = Phase.BETWEEN
    return phase


def _by_stack(stacks: StackTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Role and phase of each stack, and of none as the last."""
    frames = [stacks.stack(number) for number in range(stacks.count)]
    roles = np.array([*(role_of(stack) for stack in frames), Role.NONE], dtype=np.int64)
    sites = [site_of(stack) for stack in frames]
    threads = {_thread(site) for site, role in zip(sites, roles, strict=False) if role in _PHASE_OF_ROLE} - {None}
    phases = [_phase(Role(role), site, threads) for site, role in zip(sites, roles, strict=False)]
    return roles, np.array([*phases, Phase.BACKWARD], dtype=np.int64)


def _phase(role: Role, site: Site, threads: set[tuple[str, str] | None]) -> Phase:
    """What a stack says; `SETUP`: nothing; `BETWEEN`: the program's own thread is at work, on whatever."""
    if role is Role.NONE or (site == NOWHERE and role in (Role.FORWARD, Role.OTHER)):
        return Phase.BACKWARD
    return _PHASE_OF_ROLE.get(role, Phase.BETWEEN if _thread(site) in threads else Phase.SETUP)


def _thread(site: Site) -> tuple[str, str] | None:
    """Where the thread began, as far as recorded."""
    return (site.path[0][0], site.path[0][2]) if site.path else None
