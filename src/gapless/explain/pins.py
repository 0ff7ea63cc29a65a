"""Pins: blocks in use that keep the free rest of their segments from being returned to the device.

An ordinary segment goes back only whole, so one small block can hold any amount. An expandable one gives back each
whole page of a hole, so there it is no pin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.finding import Pin, PinningBlock

if TYPE_CHECKING:
    from gapless.explain.case import Case

MOST_PINS = 64
MOST_BLOCKS = 16
"""Of one segment; the smallest first, since they are the cheapest to move."""


def pins_of(case: Case) -> tuple[Pin, ...]:
    """The pinned segments of the request's pool, stream and class, or of all when nothing failed."""
    state = case.state
    count = len(state.segments)
    owner = state.segment_of_block
    free = np.bincount(owner[case.is_usable], weights=case.sizes[case.is_usable], minlength=count).astype(np.int64)
    used_blocks = np.bincount(owner[~case.is_free], minlength=count)
    pinned = np.flatnonzero((free > 0) & (used_blocks > 0) & (state.segments["is_expandable"] == 0))
    order = pinned[np.argsort(-free[pinned], kind="stable")][:MOST_PINS]
    return tuple(_pin(case, int(segment), int(free[segment])) for segment in order)


def _pin(case: Case, segment: int, free_bytes: int) -> Pin:
    row = case.state.segments[segment]
    first = int(row["first_block"])
    blocks = np.arange(first, first + int(row["block_count"]))
    used = blocks[~case.is_free[blocks]]
    used = used[np.argsort(case.sizes[used], kind="stable")][:MOST_BLOCKS]
    return Pin(int(row["address"]), int(row["size"]), free_bytes, tuple(_block(case, int(block)) for block in used))


def _block(case: Case, block: int) -> PinningBlock:
    row, allocation = case.state.blocks[block], int(case.state.allocation[block])
    stack = int(row["stack"])
    begun = -1
    if allocation != _core.NO_ALLOCATION:
        allocations = case.recording.trace.allocations
        stack = int(allocations.stack[allocation])
        begun = int(allocations.alloc_event[allocation])
    age = case.moment.event - begun if begun >= 0 else None
    return PinningBlock(int(row["size"]), age, case.stacks.stack(stack), case.stacks.place(stack))
