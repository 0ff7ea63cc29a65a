"""Layers of a model that repeat within a forward pass, told apart by stacks.

Note [Telling layers apart]

A loop over equal layers makes each of their stacks come equally often in every layer. A stack that comes early serves
as the mark: with every k-th of its allocations a layer begins. Of all marks and all k, those are taken whose layers
hold (nearly) the most bytes in stacks that spread evenly, and of them the most layers. What comes often at the end of
the pass (losses, logits) does not spread and is left out. The last layer may be cut off by a failure. Looked for in the
pass that allocates most, and taken over by the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.kinds.phases import Phase
from gapless.explain.median import median_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gapless.tune.case import Case

LEAST_LAYERS = 4
_MARKS, _MOST_BY_LAYER = 4, 16
_AS_GOOD = 0.95
"""Share of the most bytes that more layers need to be preferred."""


@dataclass(frozen=True)
class Pass:
    """One forward pass: its allocations of repeated layers, and where each layer begins."""

    rows: NDArray[np.int64]
    """In order of event."""
    layer: NDArray[np.int64]
    """Of each."""
    begins: NDArray[np.int64]
    """Event of each layer's first allocation."""


@dataclass(frozen=True)
class _Loop:
    mark: int
    """A layer begins with every k-th allocation of this stack."""
    k: int
    stacks: NDArray[np.int64]
    """All that belong to the layers."""
    bytes: int
    layers: int


def forward_passes(case: Case) -> Iterator[Pass]:
    """The passes in which the layers of the heaviest one come again; none where no layers repeat."""
    lives = case.explained.lives
    inside = np.flatnonzero((lives.run >= 0) & (lives.phase == Phase.FORWARD))
    inside = inside[np.argsort(lives.born[inside], kind="stable")]
    if not len(inside):
        return
    runs, of = np.unique(lives.run[inside], return_inverse=True)
    weight = np.bincount(of, weights=lives.requested[inside])
    heaviest = inside[of == int(np.argmax(weight))]
    loop = _loop(lives.stack[heaviest], lives.requested[heaviest])
    if loop is None:
        return
    for run in range(len(runs)):
        rows = inside[of == run]
        rows = rows[np.isin(lives.stack[rows], loop.stacks)]
        layer = _layer_of(lives.stack[rows], loop.mark, loop.k)
        rows, layer = rows[layer >= 0], layer[layer >= 0]
        if len(rows):
            yield Pass(rows, layer, lives.born[rows[np.searchsorted(layer, np.arange(layer[-1] + 1))]])


def _loop(stack: NDArray[np.int64], size: NDArray[np.int64]) -> _Loop | None:
    """See Note [Telling layers apart]."""
    known, first, counts = np.unique(stack, return_index=True, return_counts=True)
    often = known[counts >= LEAST_LAYERS][np.argsort(first[counts >= LEAST_LAYERS])]
    tried = [_even(stack, size, int(mark), k, often) for mark in often[:_MARKS] for k in range(1, _MOST_BY_LAYER + 1)]
    found = [loop for loop in tried if loop is not None]
    most = max((loop.bytes for loop in found), default=0)
    return max((loop for loop in found if loop.bytes >= _AS_GOOD * most), key=lambda loop: loop.layers, default=None)


def _even(
    stack: NDArray[np.int64], size: NDArray[np.int64], mark: int, k: int, often: NDArray[np.int64]
) -> _Loop | None:
    layer = _layer_of(stack, mark, k)
    count = int(layer[-1]) + 1
    if count < LEAST_LAYERS:
        return None
    stacks = np.array([one for one in often if _is_even(layer[stack == one], count)], dtype=np.int64)
    bytes_ = int(size[np.isin(stack, stacks)].sum())
    return _Loop(mark, k, stacks, bytes_, count) if len(stacks) > 1 else None


def _layer_of(stack: NDArray[np.int64], mark: int, k: int) -> NDArray[np.int64]:
    """The layer of each allocation; -1 before the first."""
    seen = np.cumsum(stack == mark)
    return np.where(seen > 0, (seen - 1) // k, -1)


def _is_even(layer: NDArray[np.int64], count: int) -> bool:
    """Whether allocations spread evenly: one layer may differ (workspaces come with the first), the last be cut off."""
    if not (layer >= 0).all():
        return False
    whole = np.bincount(layer, minlength=count)[:-1]
    usual = int(median_of(whole))
    return usual > 0 and int((whole != usual).sum()) <= 1
