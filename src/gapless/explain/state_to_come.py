"""Optimizer state that was still to be made when making it failed.

The first step of an optimizer makes its state, weight by weight. When that fails, what is in use is not yet what the
job needs: the rest can be told from the weights, since each of them gets as many tensors of its size as the others.
Adam and its kin keep two.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.finding import OPTIMIZER, WEIGHTS
from gapless.explain.kinds.stack_roles import Role

if TYPE_CHECKING:
    from gapless.explain.case import Case

_MOSTLY = 0.9
"""Least share of the state that must be of the sizes of weights; 8-bit or sharded state is not."""
_ADAM = re.compile(r"torch[/\\]optim[/\\]_?\w*adam")


def state_to_come_bytes(case: Case) -> int:
    """How much more state the optimizer would have made; 0 where it was not making any, or that cannot be told."""
    refusal = case.refusal
    if refusal is None:
        return 0
    stack = case.stacks.rows(np.array([refusal.request.stack], dtype=np.uint32))
    if case.phases.roles[stack[0]] != Role.OPTIMIZER_STATE:
        return 0
    requested = case.state.blocks["requested"].astype(np.int64)
    weights, state = requested[case.kinds == WEIGHTS], requested[case.kinds == OPTIMIZER]
    sizes, of_size = np.unique(weights, return_counts=True)
    if not len(sizes) or not len(state):
        return 0
    row = np.searchsorted(sizes, state).clip(max=len(sizes) - 1)
    matched = sizes[row] == state
    if state[matched].sum() < _MOSTLY * state.sum():
        return 0
    made = np.bincount(row[matched], minlength=len(sizes))
    is_adam = any(_ADAM.search(file) for file, _, _ in case.stacks.stack(refusal.request.stack))
    each = max(int(np.ceil(made / of_size).max()), 2 if is_adam else 1)  # tensors a weight
    return max(each * int(weights.sum()) - int(state[matched].sum()), 0)
