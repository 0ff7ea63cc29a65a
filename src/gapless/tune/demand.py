"""How much more a run would have in use at its critical request than it is known to live with, changed or not.

What a recording shows of whole steps, or of phases before the request, is what the run lives with. Where the request
takes it beyond that, nothing recorded tells what comes next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case

_GRAIN_BYTES = 512


def demand_beyond_bytes(case: Case, candidate: Candidate) -> int:
    """Live bytes with the critical request, above the most that the recording shows before it, under a change.

    0 where no request failed.
    """
    edits = candidate.edits
    if not case.failed or not (edits.requested or edits.free_before_event):
        return case.demand_beyond_bytes
    allocations = case.recording.trace.allocations
    size = allocations.size.astype(np.int64)
    if edits.requested:
        requested = np.array(edits.requested, dtype=np.int64)
        asked_anew = requested != allocations.requested.astype(np.int64)
        size[asked_anew] = -(-requested[asked_anew] // _GRAIN_BYTES) * _GRAIN_BYTES
    end = case.event + 1
    ends = allocations.free_requested_event.astype(np.int64)
    # The state before an event no longer has what an earlier one freed.
    ends = np.where(ends < case.recording.event_count, ends + 1, end)
    if edits.free_before_event:
        ends = np.minimum(ends, np.array(edits.free_before_event, dtype=np.int64))
    change = np.zeros(end + 1, dtype=np.int64)
    np.add.at(change, np.minimum(allocations.alloc_event.astype(np.int64) + 1, end), size)
    np.subtract.at(change, np.minimum(ends, end), size)
    live = np.cumsum(change)[:end]
    request = int(case.request_bytes * edits.failed_request_factor)
    return max(0, int(live[-1]) + request - int(live.max()))
