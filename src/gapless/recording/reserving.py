"""What PyTorch reserves: what it asks the device for, and the sum of it over the events of a recording, in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.units import MIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless._core import Events, Trace
    from gapless.conf import Settings

SMALL_BYTES = MIB
"""Largest rounded request of the small pool."""
_SMALL_SEGMENT_BYTES = 2 * MIB
_OWN_SEGMENT_BYTES = 10 * MIB
"""Requests from here on get a segment of their own size."""
_SEGMENT_QUANTUM = 2 * MIB
_GROWS = [_core.ACTIONS.index(name) for name in ("segment_alloc", "segment_map")]
_SHRINKS = [_core.ACTIONS.index(name) for name in ("segment_free", "segment_unmap")]


def segment_bytes(rounded_bytes: int, settings: Settings) -> int:
    """What the device is asked for when nothing cached serves a request of that rounded size.

    >>> from gapless.conf import Settings
    >>> [segment_bytes(size, Settings()) >> 20 for size in (512, 1_048_577, 10_485_760, 31_000_000)]
    [2, 20, 10, 30]
    """
    if rounded_bytes <= SMALL_BYTES:
        return _SMALL_SEGMENT_BYTES
    if rounded_bytes < _OWN_SEGMENT_BYTES:
        return settings.large_segment_size
    return -(-rounded_bytes // _SEGMENT_QUANTUM) * _SEGMENT_QUANTUM


def reserved_bytes(trace: Trace, events: Events) -> NDArray[np.int64]:
    """Reserved before each event, and at the end."""
    sizes = events.size.astype(np.int64)
    change = np.zeros(len(sizes) + 1, dtype=np.int64)
    change[0] = int(trace.start.segments["size"].sum())
    change[1:] = np.where(np.isin(events.action, _GROWS), sizes, 0)
    change[1:] -= np.where(np.isin(events.action, _SHRINKS), sizes, 0)
    return np.cumsum(change)
