"""Allocator states to draw, made from sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless.recording import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MIB = 1 << 20
FREE, USED, PENDING = range(3)
Blocks = "Sequence[tuple[int, int]]"
_SEGMENT = [("address", "<u8"), ("size", "<u8"), ("first_block", "<u4"), ("block_count", "<u4")]
_KIND = [("is_small", "u1"), ("is_expandable", "u1"), ("stream", "<u2"), ("pool", "<u2")]
_BLOCK = [("address", "<u8"), ("size", "<u8"), ("requested", "<u8"), ("stack", "<u4"), ("state", "u1")]


def state_of(
    *segments: Sequence[tuple[int, int]],
    small: bool = False,
    expandable: bool = False,
    owners: Sequence[tuple[int, int]] = (),
) -> State:
    """A state; each segment is its blocks as (MiB, state), and begins at a multiple of 1 TiB.

    `owners`: stream and pool of each segment, else the default ones.
    """
    rows, blocks = [], []
    for number, cuts in enumerate(segments, 1):
        address = number << 40
        size, owner = sum(size for size, _ in cuts) * MIB, owners[number - 1] if owners else (0, 0)
        rows.append((address, size, len(blocks), len(cuts), small, expandable, *owner))
        for size, state in cuts:
            blocks.append((address, size * MIB, size * MIB, 0, state))
            address += size * MIB
    cut: NDArray[np.void] = np.array(blocks, dtype=_BLOCK)
    return State(0, np.array(rows, dtype=_SEGMENT + _KIND), cut, np.zeros(len(blocks), dtype=np.uint32))
