"""What memory from before the recording is for. It has no stack: only its size, its age and its end tell.

Note [Memory from before]

What is freed in backward was activations. What is of a gradient's size and freed elsewhere was a gradient, unless the
recorded pass has made that anew by then: some make the optimizer's state anew in every step.

What stays is told by counting: of each size there are as many gradients as weights that learn, and so many times that
of optimizer state. Gradients are seen in backward, where each pass makes them anew. Where passes add to what is there,
gradients stay as well; a pass still makes as many of each size as there are weights. Which of them are the weights is
told by where they lie (`prehistory`); else the lower address counts as the older, and the older comes first: weights,
then gradients, then the optimizer's state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.among import among
from gapless.explain.finding import ACTIVATIONS, GRADIENTS, OPTIMIZER, TEMPORARY, UNKNOWN, WEIGHTS
from gapless.explain.kinds.gradients import THREADS
from gapless.explain.kinds.lifetimes import WORKSPACE_BYTES
from gapless.explain.kinds.phases import Phase
from gapless.explain.kinds.weights_before import likely_weights_first

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.kinds.gradients import Gradients
    from gapless.explain.kinds.lifetimes import Lives

_LEAST_COPIES = 3
_NEARLY = 0.9


def kinds_before(lives: Lives, gradients: Gradients, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each allocation from before the recording the index of its kind."""
    requested, phases = lives.requested[rows], lives.phases
    dies = lives.died[rows] < lives.event_count
    kinds = np.full(len(rows), UNKNOWN, dtype=np.int64)
    like_gradient = dies & among(requested, gradients.made_sizes) & ~lives.ends_in_backward[rows]
    kinds[dies] = ACTIVATIONS
    kinds[like_gradient] = GRADIENTS
    if len(gradients.sizes):
        kinds[like_gradient & (lives.died[rows] > (phases.first(Phase.BACKWARD) or 0))] = OPTIMIZER
    stays = np.flatnonzero(~dies)
    if not phases.has(Phase.BACKWARD):
        kinds[stays] = WEIGHTS
        return kinds
    is_workspace = np.isin(requested[stays], WORKSPACE_BYTES) & ~among(requested[stays], gradients.plain_sizes)
    if np.count_nonzero(is_workspace) <= THREADS:
        kinds[stays[is_workspace]] = TEMPORARY
        stays = stays[~is_workspace]
    if len(gradients.sizes):
        stays = stays[likely_weights_first(lives, rows[stays], gradients.sizes)]
        kinds[stays] = _beside(requested[stays], gradients.sizes)
    else:
        kinds[stays] = _in_place(requested[stays], gradients)
    return kinds


def _beside(sizes: NDArray[np.int64], gradients: NDArray[np.int64]) -> NDArray[np.int64]:
    """Weights, those that come first, and the optimizer's, where gradients come and go.

    What stands in twice the size of every weight are the optimizer's copies of them in twice the precision, and more.
    """
    kinds = np.where(among(sizes, gradients), OPTIMIZER, WEIGHTS)
    weights = oldest_of_each_size(sizes, gradients, gradients[:0])
    rest = np.ones(len(sizes), dtype=bool)
    rest[weights] = False
    copies = sizes[rest][oldest_of_each_size(sizes[rest], 2 * gradients, gradients[:0])]
    if len(copies) >= _LEAST_COPIES and copies.sum() >= _NEARLY * 2 * gradients.sum():
        kinds[rest & among(sizes, 2 * gradients)] = OPTIMIZER
    kinds[weights] = WEIGHTS
    return kinds


def _in_place(sizes: NDArray[np.int64], gradients: Gradients) -> NDArray[np.int64]:
    """Weights, gradients and the optimizer's, where all of them stay; what does not add up is unknown."""
    copies = _copies(sizes, gradients)
    if copies is None:
        return np.full(len(sizes), UNKNOWN, dtype=np.int64)
    _, of_size, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    share = _rank(sizes) * copies // counts[of_size]
    kinds = np.array([WEIGHTS, GRADIENTS, OPTIMIZER])[share.clip(max=OPTIMIZER)]
    kinds = np.where(counts[of_size] % copies == 0, kinds, UNKNOWN)
    return np.where(among(sizes, gradients.made_sizes), kinds, WEIGHTS)


def _copies(sizes: NDArray[np.int64], gradients: Gradients) -> int | None:
    """How often each weight is there: of each size as many stay as a pass makes, times the copies; by most bytes."""
    values, counts = np.unique(gradients.plain_sizes, return_counts=True)
    bytes_of: dict[int, int] = {}
    for size, count in zip(values.tolist(), counts.tolist(), strict=True):
        copies, rest = divmod(int(np.count_nonzero(sizes == size)), count)
        if copies > 1 and not rest:
            bytes_of[copies] = bytes_of.get(copies, 0) + size * count
    return max(bytes_of, key=lambda copies: bytes_of[copies], default=None)


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
