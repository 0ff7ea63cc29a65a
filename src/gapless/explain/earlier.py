"""What memory from before the recording is for. It has no stack: only its size, its age and its end tell.

Note [Memory from before]

What is freed in backward was activations, what is freed between steps gradients. What stays is told by counting: of
each size there are as many gradients as weights that learn, and so many times that of optimizer state. Gradients are
seen in backward, where each pass makes them anew. Where none does, they are zeroed in place and stay as well. The older
comes first: weights, then gradients, then the optimizer's state.
"""

from __future__ import annotations

import re
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.among import among
from gapless.explain.finding import ACTIVATIONS, GRADIENTS, OPTIMIZER, TEMPORARY, UNKNOWN, WEIGHTS
from gapless.explain.lives import WORKSPACE_BYTES
from gapless.explain.phases import Phase
from gapless.explain.roles import OF_OPTIMIZER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.lives import Lives

_STATES = re.compile(r"(?:^|/)torch/optim/(?:(?P<two>_?\w*adam\w*|adadelta)|(?P<one>sgd|adagrad|rmsprop))\.py$")
_MOST_COPIES = 4
"""Weights, gradients and two of the optimizer."""
_MOST = 0.9
_THREADS = 2
"""That multiply matrices: the program's own and one of autograd."""


def kinds_before(lives: Lives, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each allocation from before the recording the index of its kind."""
    requested, phases = lives.requested[rows], lives.phases
    dies = lives.died[rows] < lives.event_count
    gradients = lives.gradient_sizes
    kinds = np.full(len(rows), UNKNOWN, dtype=np.int64)
    is_gradient = among(requested, gradients) & ~lives.ends_in_backward[rows]
    kinds[dies] = np.where(is_gradient, GRADIENTS, ACTIVATIONS)[dies]
    stays = np.flatnonzero(~dies)
    if not phases.has(Phase.BACKWARD):
        kinds[stays] = WEIGHTS
        return kinds
    is_workspace = np.isin(requested[stays], WORKSPACE_BYTES)
    if np.count_nonzero(is_workspace) <= _THREADS:
        kinds[stays[is_workspace]] = TEMPORARY
        stays = stays[~is_workspace]
    kinds[stays] = _beside(requested[stays], gradients) if len(gradients) else _in_place(lives, requested[stays])
    return kinds


def _beside(sizes: NDArray[np.int64], gradients: NDArray[np.int64]) -> NDArray[np.int64]:
    """Weights and the optimizer's, where gradients come and go."""
    kinds = np.where(among(sizes, gradients), OPTIMIZER, WEIGHTS)
    kinds[oldest_of_each_size(sizes, gradients, gradients[:0])] = WEIGHTS
    return kinds


def _in_place(lives: Lives, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Weights, gradients and the optimizer's, where all of them stay; sizes that do not fit remain unknown."""
    values, of_size, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    copies = _copies(lives, counts[_most_of_it(values * counts)])
    if copies is None:
        return np.full(len(sizes), UNKNOWN, dtype=np.int64)
    share = _rank(sizes) * copies // counts[of_size]
    kinds = np.array([WEIGHTS, GRADIENTS, OPTIMIZER])[share.clip(max=2)]
    return np.where(counts[of_size] % copies == 0, kinds, UNKNOWN)


def _copies(lives: Lives, counts: NDArray[np.int64]) -> int | None:
    """How often each weight's size is there: told by the optimizer's file, else by what all counts have in common."""
    of_optimizer = np.flatnonzero(np.isin(lives.phases.roles[:-1], OF_OPTIMIZER))
    for stack in of_optimizer:
        for file, _, _ in lives.stacks.stack(int(stack)):
            found = _STATES.search(file.replace("\\", "/"))
            if found:
                return _MOST_COPIES if found["two"] else _MOST_COPIES - 1
    common = gcd(*counts.tolist())
    return common if 1 < common <= _MOST_COPIES else None


def _most_of_it(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Indices of the largest, which make up nine tenths."""
    order = np.argsort(-sizes, kind="stable")
    before = np.cumsum(sizes[order]) - sizes[order]
    most: NDArray[np.int64] = order[before < _MOST * sizes.sum()]
    return most


def _rank(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of the same size stand before."""
    order = np.argsort(sizes, kind="stable")
    in_order = sizes[order]
    rank = np.zeros(len(sizes), dtype=np.int64)
    rank[order] = np.arange(len(sizes)) - np.searchsorted(in_order, in_order)
    return rank


def oldest_of_each_size(
    sizes: NDArray[np.int64], allowed: NDArray[np.int64], taken: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Indices of the first of each size, as many as `allowed` has of it and `taken` has not."""
    values, counts = np.unique(allowed, return_counts=True)
    if not len(values) or not len(sizes):
        return np.zeros(0, dtype=np.int64)
    used = np.searchsorted(values, taken)
    used = used[(used < len(values)) & (values[np.minimum(used, len(values) - 1)] == taken)]
    counts = counts - np.bincount(used, minlength=len(values))
    place = np.searchsorted(values, sizes).clip(max=len(values) - 1)
    return np.flatnonzero((values[place] == sizes) & (_rank(sizes) < counts[place]))
