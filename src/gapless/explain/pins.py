"""Pins: blocks in use that keep the free rest of their segments from being returned to the device.

An ordinary segment goes back only whole, so one small block can hold any amount. An expandable one gives back each
whole page of a hole, so there it is no pin.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.finding import Pin, PinningBlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case
    from gapless.explain.finding import Frame, Stack

MOST_PINS = 64
"""Segments listed, those with most free memory."""
MOST_BLOCKS = 16
"""Of one segment; the smallest first, since they are the cheapest to move."""
_MOST_PLACES = 3


@dataclass(frozen=True)
class PinningPlace:
    """The blocks of one place that pin; segments may be pinned by several places."""

    at: Frame | None
    """None: no stack was recorded."""
    blocks: int
    segments: int
    free_bytes: int
    """In those segments."""
    since_event: int | None
    """When the oldest was allocated; None: one is from before the recording."""
    steps: int | None
    """Begun since then; None where steps or that event are not known."""


@dataclass(frozen=True)
class Pinned:
    """All pinned segments in sum."""

    segments: int
    free_bytes: int
    blocks: int
    block_bytes_least: int
    block_bytes_most: int
    places: tuple[Stack, ...]
    """Whose blocks pin, the most often first."""
    by_place: tuple[PinningPlace, ...]
    """The same by the frame to look at."""


def pins_of(case: Case) -> tuple[Pin, ...]:
    """The pinned segments of the request's pool, stream and class, or of all when nothing failed; of the other class
    where most of what is free is of that."""
    free = _free_bytes(case)
    pinned = _pinned(case, free)
    order = pinned[np.argsort(-free[pinned], kind="stable")][:MOST_PINS]
    return tuple(_pin(case, int(segment), int(free[segment])) for segment in order)


def pinned_of(case: Case) -> Pinned:
    """The same segments in sum, all of them."""
    free = _free_bytes(case)
    pinned = _pinned(case, free)
    blocks = ~case.is_free & np.isin(case.state.segment_of_block, pinned)
    sizes, stacks = case.sizes[blocks], case.block_stacks[blocks]
    counts = Counter(stacks.tolist()).most_common()
    return Pinned(
        segments=len(pinned),
        free_bytes=int(free[pinned].sum()),
        blocks=len(sizes),
        block_bytes_least=int(sizes.min(initial=1 << 62)) if len(sizes) else 0,
        block_bytes_most=int(sizes.max(initial=0)),
        places=tuple(case.stacks.stack(stack) for stack, _ in counts if case.stacks.stack(stack))[:_MOST_PLACES],
        by_place=_by_place(case, np.flatnonzero(blocks), free),
    )


def _by_place(case: Case, blocks: NDArray[np.int64], free: NDArray[np.int64]) -> tuple[PinningPlace, ...]:
    """Pinning blocks by their places, those of the most blocks first."""
    numbers = case.stacks.place_of(case.block_stacks[blocks])
    _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    return tuple(_of_place(case, blocks[numbers == numbers[row]], free) for row in first[order])


def _of_place(case: Case, blocks: NDArray[np.int64], free: NDArray[np.int64]) -> PinningPlace:
    segments = sorted(set(case.state.segment_of_block[blocks].tolist()))
    born = min(_born(case, int(block)) for block in blocks)
    then = case.steps.step_of(born) if case.steps is not None and case.steps.is_training and born >= 0 else None
    now = case.steps.step_of(case.moment.event) if case.steps is not None else None
    return PinningPlace(
        at=case.stacks.place(int(case.block_stacks[blocks[0]])),
        blocks=len(blocks),
        segments=len(segments),
        free_bytes=int(free[segments].sum()),
        since_event=born if born >= 0 else None,
        steps=None if then is None or now is None else now - then,
    )


def _free_bytes(case: Case) -> NDArray[np.int64]:
    """Per segment the free bytes that the request could have used, were they in one piece.

    Or could have had of the card, were they returned, where most are of the other size class.
    """
    fragments = case.fragments
    free = fragments.other_class if fragments and fragments.is_mostly_of_other_class else case.is_usable
    owner, sizes = case.state.segment_of_block[free], case.sizes[free]
    return np.bincount(owner, weights=sizes, minlength=len(case.state.segments)).astype(np.int64)


def _pinned(case: Case, free: NDArray[np.int64]) -> NDArray[np.int64]:
    used = np.bincount(case.state.segment_of_block[~case.is_free], minlength=len(case.state.segments))
    return np.flatnonzero((free > 0) & (used > 0) & (case.state.segments["is_expandable"] == 0))


def _pin(case: Case, segment: int, free_bytes: int) -> Pin:
    row = case.state.segments[segment]
    first = int(row["first_block"])
    blocks = np.arange(first, first + int(row["block_count"]))
    used = blocks[~case.is_free[blocks]]
    used = used[np.argsort(case.sizes[used], kind="stable")][:MOST_BLOCKS]
    return Pin(int(row["address"]), int(row["size"]), free_bytes, tuple(_block(case, int(block)) for block in used))


def _block(case: Case, block: int) -> PinningBlock:
    stack, born = int(case.block_stacks[block]), _born(case, block)
    age = case.moment.event - born if born >= 0 else None
    return PinningBlock(int(case.sizes[block]), age, case.stacks.stack(stack), case.stacks.place(stack))


def _born(case: Case, block: int) -> int:
    """The event that allocated a block; -1: before the recording."""
    allocation = int(case.state.allocation[block])
    if allocation == _core.NO_ALLOCATION:
        return -1
    return int(case.recording.trace.allocations.alloc_event[allocation])
