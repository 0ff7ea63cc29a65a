"""Pins: blocks in use that keep the free rest of their segments from being returned to the device.

An ordinary segment goes back only whole, so one small block can hold any amount. An expandable one gives back each
whole page of a hole, so there it is no pin.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.finding import Frame, Pin, Pinned, PinningBlock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case

MOST_PINS = 64
"""Segments listed, those with most free memory."""
MOST_BLOCKS = 16
"""Of one segment; the smallest first, since they are the cheapest to move."""
_MOST_PLACES = 3


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
    at: Counter[Frame] = Counter()
    for stack, count in counts:
        place = case.stacks.place(stack)
        if place is not None:
            at[place] += count
    return Pinned(
        segments=len(pinned),
        free_bytes=int(free[pinned].sum()),
        blocks=len(sizes),
        block_bytes_least=int(sizes.min(initial=1 << 62)) if len(sizes) else 0,
        block_bytes_most=int(sizes.max(initial=0)),
        places=tuple(case.stacks.stack(stack) for stack, _ in counts if case.stacks.stack(stack))[:_MOST_PLACES],
        at=tuple(frame for frame, _ in at.most_common(_MOST_PLACES)),
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
    allocation, stack = int(case.state.allocation[block]), int(case.block_stacks[block])
    born = -1
    if allocation != _core.NO_ALLOCATION:
        born = int(case.recording.trace.allocations.alloc_event[allocation])
    age = case.moment.event - born if born >= 0 else None
    return PinningBlock(int(case.sizes[block]), age, case.stacks.stack(stack), case.stacks.place(stack))
