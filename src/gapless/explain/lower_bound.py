"""The lower bound: what is live at one time, below which no allocator and no setting can go.

It counts the bytes that the program asked for, in the order of its calls, and among them the request that failed at the
moment that is looked at. What was freed and waits for another stream is not live: a request that finds no room waits
for it and gets it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.recording.recording import PENDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.recording import Recording
    from gapless.replaying import Edits

_MALLOC, _FREES = _core.CALLS.index("malloc"), (_core.CALLS.index("free"), _core.CALLS.index("free_deferred"))
_MOST_BYTES = 1 << 60
"""From there on a request is refused before any memory is looked for."""


def lower_bound_bytes(recording: Recording, failing_event: int | None = None, edits: Edits | None = None) -> int:
    """Peak of live requested bytes.

    Args:
        recording: What ran.
        failing_event: Of a request that failed and has to be served; None: what was served when it was recorded.
        edits: Changes to the program.
    """
    program, allocations = recording.program, recording.trace.allocations
    begin, end = _lives(recording)
    size = allocations.requested.astype(np.int64)
    if edits is not None and edits.requested:
        size = np.array(edits.requested, dtype=np.int64)
    if edits is not None and edits.free_before_event:
        early = np.searchsorted(program.event_begin, np.array(edits.free_before_event, dtype=np.int64)) + 1
        end = np.where(early > begin, np.minimum(end, early), end)
    count = len(program.call) + 1
    size[(size >= _MOST_BYTES) | (begin == count)] = 0
    change = np.zeros(count + 1, dtype=np.int64)
    np.add.at(change, begin, size)
    np.subtract.at(change, np.maximum(end, begin), size)
    live = np.cumsum(change)[:count]
    factor = edits.failed_request_factor if edits is not None else 1.0
    return max(int(live.max()), _with_request(recording, failing_event, live, factor))


def _lives(recording: Recording) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From which call on each allocation is live, and from which on no more: 0 is before the first, and so on."""
    program, trace = recording.program, recording.trace
    never = len(program.call) + 1
    is_of_one = program.allocation != _core.NO_ALLOCATION
    asks = np.flatnonzero((program.call == _MALLOC) & is_of_one)
    frees = np.flatnonzero(np.isin(program.call, _FREES) & is_of_one)[::-1]  # of several of one the first counts
    begin = np.where(trace.allocations.alloc_event < 0, 0, never).astype(np.int64)
    begin[program.allocation[asks]] = asks + 1
    end = np.full(len(begin), never, dtype=np.int64)
    end[program.allocation[frees]] = frees + 1
    waits = trace.start.blocks["state"] == PENDING
    end[trace.allocation_of_start_block[waits]] = 0
    return begin, end


def _with_request(recording: Recording, failing_event: int | None, live: NDArray[np.int64], factor: float) -> int:
    """What is live beside the failing request, and the request."""
    if failing_event is None:
        return 0
    call = int(np.searchsorted(recording.program.event_end, failing_event, side="right"))
    requested = int(recording.events.size[failing_event])
    return int(live[min(call + 1, len(live) - 1)]) + int(requested * factor) if requested < _MOST_BYTES else 0
