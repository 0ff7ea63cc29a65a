"""The sizes in a recording that decide what a setting does: what was asked, what missed, and what pins what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.recording.recording import FREE
from gapless.units import MIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.tune.case import Case

_MALLOC = _core.CALLS.index("malloc")
_MOST = 4
_ALIKE_BYTES = MIB
"""Sizes this near to each other count as one: options are written in MiB."""


@dataclass(frozen=True)
class DecisiveSizes:
    """Bytes, each list with what weighs most first; only sizes over 1 MiB, which options can reach."""

    request: int
    missed: tuple[int, ...]
    """Requests for which no cached block was found."""
    segments: tuple[int, ...]
    """Segments that hold free memory and cannot be given back, at the critical moment."""
    pins: tuple[int, ...]
    """The blocks that keep them."""
    holes: tuple[int, ...]
    """The free blocks in them."""

    @property
    def all(self) -> tuple[int, ...]:
        """The distinct ones, smallest first."""
        kept: list[int] = []
        for size in sorted({self.request, *self.missed, *self.segments, *self.pins, *self.holes}):
            if size > MIB and (not kept or size - kept[-1] >= _ALIKE_BYTES):
                kept.append(size)
        return tuple(kept)


def decisive_sizes(case: Case) -> DecisiveSizes:
    """Reads the sizes off the recording."""
    segments, pins, holes = _pinned(case)
    return DecisiveSizes(case.request_bytes, _missed(case), segments, pins, holes)


def _missed(case: Case) -> tuple[int, ...]:
    program, allocations = case.recording.program, case.recording.trace.allocations
    grew = (program.call == _MALLOC) & (program.event_end - program.event_begin > 1)
    rows = program.allocation[grew & (program.allocation != _core.NO_ALLOCATION)]
    return _heaviest(allocations.size[rows])


def _pinned(case: Case) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Sizes of the segments that hold both, of the used and of the free blocks in them."""
    state = case.explained.state
    segment, size, free = state.segment_of_block, state.blocks["size"], state.blocks["state"] == FREE
    count = len(state.segments)
    free_bytes = np.bincount(segment, weights=np.where(free, size, 0), minlength=count)
    used_bytes = np.bincount(segment, weights=np.where(free, 0, size), minlength=count)
    pinned = (free_bytes > 0) & (used_bytes > 0)
    inside = pinned[segment] if len(segment) else np.zeros(0, dtype=bool)
    return (
        _heaviest(state.segments["size"][pinned]),
        _heaviest(size[inside & ~free]),
        _heaviest(size[inside & free]),
    )


def _heaviest(sizes: NDArray[np.integer]) -> tuple[int, ...]:
    """The sizes over 1 MiB that make up most bytes, at most a few."""
    weights: Counter[int] = Counter()
    for size, count in zip(*np.unique(sizes[sizes > MIB], return_counts=True), strict=True):
        weights[int(size)] = int(size) * int(count)
    return tuple(size for size, _ in weights.most_common(_MOST))
