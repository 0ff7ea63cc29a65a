"""Where the weights lie that were made before the recording, told by making them again.

Note [Prehistory]

Weights and an optimizer's state have the same sizes, and what was allocated before the recording has neither stack nor
event. It has an address, though, and PyTorch's allocator decides where a block goes by what went before. A model is
made in one of two ways:

    plain       one weight after the other, in the order in which backward makes their gradients, reversed
    converted   in twice the precision; then each weight is allocated in half of its size and its original freed

Both are run on our model of the allocator, in an empty pool. What comes out is a pattern: so many segments of these
sizes, with weights at these places in them. Where the recording has blocks of the same sizes at nearly all of these
places, these are the weights. Addresses of whole segments are the card's choice, so each segment of a pattern is looked
for among all of its size; of those that are alike the first counts, in the direction in which the card gives addresses.

Where neither pattern is found (weights loaded in another order, segments given back meanwhile), nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.recording.recording import ACTION
from gapless.recording.settings import to_core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.kinds.lifetimes import Lives
    from gapless.recording import Recording

_NEARLY = 0.9
_MOST_WEIGHTS = 20_000
"""Making more of them again would take over a second."""
_MOST_LOOKS = 200_000
"""At a segment, for what a segment of a pattern has in it; mostly the next one is it."""
_PLENTY_BYTES = 1 << 45

Places = dict[int, int]
"""Bytes asked for, by offset in a segment."""


def likely_weights_first(lives: Lives, rows: NDArray[np.int64], gradients: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of allocations from before the recording in which weights come first: those known by their places, then
    the older ones, as far as addresses tell. Arguments are those of `weights_before`.
    """
    recording = lives.stacks.recording
    segment, offset, _ = _places_of(recording, rows)
    return np.lexsort((offset, _by_age(recording, segment), ~weights_before(lives, rows, gradients)))


def weights_before(lives: Lives, rows: NDArray[np.int64], gradients: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each allocation from before the recording, whether it lies where a weight of the model would.

    Args:
        lives: Of the recording's allocations.
        rows: The allocations.
        gradients: Bytes of each gradient that a backward pass makes, in its order.
    """
    found = np.zeros(len(rows), dtype=bool)
    if not len(rows) or not 0 < len(gradients) <= _MOST_WEIGHTS or lives.stacks.recording.settings.expandable_segments:
        return found
    recording = lives.stacks.recording
    segment, offset, sizes = _places_of(recording, rows)
    recorded: dict[int, dict[int, int]] = defaultdict(dict)
    in_order = np.argsort(_by_age(recording, segment), kind="stable")
    for row, number, at in zip(in_order.tolist(), segment[in_order].tolist(), offset[in_order].tolist(), strict=True):
        recorded[number][at] = row
    requested = lives.requested[rows]
    best = 0
    for is_converted in (False, True):
        pattern = _pattern(recording, gradients[::-1], is_converted=is_converted)
        matched = _match(pattern, recorded, sizes, requested)
        of_pattern = int(requested[matched].sum())
        if of_pattern > best and of_pattern >= _NEARLY * gradients.sum():
            best = of_pattern
            found[:] = False
            found[matched] = True
    return found


def _places_of(
    recording: Recording, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of each allocation the number of its segment and the offset in it; of each segment its bytes."""
    trace = recording.trace
    begins, sizes = (trace.start.segments[name].astype(np.int64) for name in ("address", "size"))
    order = np.argsort(begins)
    addresses = trace.allocations.address[rows].astype(np.int64)
    segment = np.searchsorted(begins[order], addresses, side="right") - 1
    return segment, addresses - begins[order][segment], sizes[order]


def _pattern(recording: Recording, sizes: NDArray[np.int64], *, is_converted: bool) -> list[tuple[int, Places]]:
    """The bytes of each segment that making weights of these sizes leaves, and the weights in it."""
    release = recording.release
    allocator = _core.Allocator(release.major, release.minor, _PLENTY_BYTES)
    allocator.configure(to_core(recording.settings))
    originals = [allocator.malloc(2 * size) for size in sizes.tolist()] if is_converted else []
    weights = []
    for number, size in enumerate(sizes.tolist()):
        weights.append(allocator.malloc(size))
        if is_converted:
            allocator.free(originals[number])
    return _segments_in(allocator)


def _segments_in(allocator: _core.Allocator) -> list[tuple[int, Places]]:
    """Each segment of an allocator that has a block in use."""
    found: list[tuple[int, Places]] = []
    begin, size, places = 0, 0, Places()
    for address, block_bytes, requested, state, *_, is_first in [*allocator.snapshot(), (0, 0, 0, "", True)]:
        if is_first:
            if places:
                found.append((size, places))
            begin, size, places = address, 0, {}
        size += block_bytes
        if state == "A":
            places[address - begin] = requested
    return found


def _match(
    pattern: list[tuple[int, Places]],
    recorded: dict[int, dict[int, int]],
    segment_bytes: NDArray[np.int64],
    requested: NDArray[np.int64],
) -> list[int]:
    """Rows that lie where the pattern has a weight of their size; each segment serves once, the best that is left."""
    found: list[int] = []
    left: dict[int, dict[int, None]] = defaultdict(dict)
    for number in recorded:
        left[int(segment_bytes[number])][number] = None
    looks = _MOST_LOOKS
    for size, places in pattern:
        chosen, most = -1, list[int]()
        for number in left[size]:
            rows, looks = recorded[number], looks - 1
            same = [rows[at] for at, wanted in places.items() if at in rows and requested[rows[at]] == wanted]
            if requested[same].sum() > requested[most].sum():
                chosen, most = number, same
            if len(most) == len(places) or looks < 0:
                break
        left[size].pop(chosen, None)
        found += most
    return found


def _by_age(recording: Recording, segment: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers that grow with the address of a segment; or fall, where the card mostly gave lower ones, as recorded."""
    events = recording.events
    addresses = events.address[events.action == ACTION["segment_alloc"]].astype(np.int64)
    return segment if int(np.sign(np.diff(addresses)).sum()) >= 0 else -segment
