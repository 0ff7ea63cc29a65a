"""Brief memory: what lives for a moment only, against the length of a step.

Note [What is brief]

An allocation is brief when it lives for at most one twentieth of a step, or does not outlive the part of the step that
it was made in though that part is long: temporaries of backward, the lists of an optimizer.

At a failure the lives of what is in use are cut off, so its age says nothing: activations made a moment ago look young
and stay. There the earlier lives of the same stack decide, as long as it is not older than they became. Where a stack
has none, or is that of all of backward (its thread leaves no frames), only memory that is temporary by kind counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.finding import KINDS
from gapless.explain.kinds.lifetimes import UNTOLD, WORKSPACE_BYTES
from gapless.explain.kinds.phases import Phase
from gapless.explain.median import median_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case

_OF_A_STEP, _OF_THE_RECORDING = 1 / 20, 1 / 100
"""How long a moment is; of the recording where steps are not known."""
_MOSTLY = 0.5
"""Least share of a stack's earlier allocations that were brief, for the next one to be expected so."""


def brief_of(case: Case) -> NDArray[np.bool_]:
    """Per allocation: whether it lives for a moment. Nothing from before the recording is."""
    lives = case.lives
    until = case.moment.event if case.moment.is_failure else case.recording.event_count
    told = (lives.born >= 0) & (lives.died < until)
    age = np.minimum(lives.died, until) - lives.born
    brief = told & (age <= _moment_of(case))
    if case.phases.has(Phase.FORWARD):
        brief |= told & (lives.outlives == 0)
        told &= brief | (lives.outlives != UNTOLD)
    return brief | (_expected(case, told, brief, age) & (lives.born >= 0) & ~told)


def _moment_of(case: Case) -> float:
    """Events that something brief may live."""
    steps = case.steps
    if steps is not None and steps.count:
        return max(_OF_A_STEP * median_of(np.diff(steps.boundaries)), 1.0)
    return max(_OF_THE_RECORDING * case.recording.event_count, 1.0)


def _expected(
    case: Case, told: NDArray[np.bool_], brief: NDArray[np.bool_], age: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """What is expected to be brief where the end is not told: by its stack, else by its kind."""
    lives, width = case.lives, case.stacks.count + 1
    known = np.bincount(lives.stack[told], minlength=width)
    usual = (known > 0) & (np.bincount(lives.stack[brief], minlength=width) >= _MOSTLY * known)
    usual[-1] = False  # nothing recorded: many stacks
    known[-1] = 0
    longest = np.zeros(width, dtype=np.int64)
    np.maximum.at(longest, lives.stack[brief], age[brief])
    used = ~case.is_free & (case.state.allocation != _core.NO_ALLOCATION)
    temporary = np.zeros(len(told), dtype=bool)
    temporary[case.state.allocation[used]] = case.kinds[used] == KINDS.index("temporary")
    expected: NDArray[np.bool_] = usual[lives.stack] & (age <= longest[lives.stack])
    expected |= temporary & (known == 0)[lives.stack]
    return expected & ~np.isin(lives.requested, WORKSPACE_BYTES)  # a matrix library keeps its workspace
