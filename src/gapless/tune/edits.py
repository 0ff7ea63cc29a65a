"""Changes to the recorded program itself: blocks freed earlier, or asked for smaller. Always assumptions.

Which memory a program could do without cannot be known from one recording. An edit says: if it did without this, what
then? The answer is a replay, graded `modelled`, with the bytes that were edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.replaying import Edits
from gapless.tune.candidate import Candidate
from gapless.tune.fix import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.finding import Frame
    from gapless.tune.case import Case


def freed_early(case: Case, rows: NDArray[np.int64], before: NDArray[np.int64], change: str) -> Candidate | None:
    """Allocations freed before events of their own; None where none of them would be freed earlier than it was.

    Args:
        case: What is tuned.
        rows: The allocations.
        before: For each the event before which it is freed.
        change: For people.
    """
    allocations = case.recording.trace.allocations
    earlier = before < allocations.free_requested_event[rows]
    rows, before = rows[earlier], before[earlier]
    if not len(rows):
        return None
    column = np.full(len(allocations), _core.NEVER, dtype=np.int64)
    column[rows] = before
    return Candidate(
        kind=Kind.CODE,
        change=change,
        edits=Edits(free_before_event=column.tolist()),
        edited_bytes=_most_live_bytes(case, rows),
    )


def scaled(
    case: Case, rows: NDArray[np.int64], factor: float, change: str, *, failed_request: bool = False, order: int = 0
) -> Candidate | None:
    """Allocations of another size; None where there are none. Whole multiples of 512 bytes, and never nothing.

    Args:
        case: What is tuned.
        rows: The allocations.
        factor: Of their sizes.
        change: For people.
        failed_request: The request that failed shrinks as well.
        order: Among equals.
    """
    if not len(rows):
        return None
    allocations = case.recording.trace.allocations
    column = allocations.requested.astype(np.int64)
    smaller = (column[rows] * factor).astype(np.int64) // 512 * 512
    column[rows] = np.maximum(smaller, np.minimum(column[rows], 512))
    edits = Edits(requested=column.tolist(), failed_request_factor=factor if failed_request else 1.0)
    bytes_ = _most_live_bytes(case, rows, request_bytes=case.request_bytes if failed_request else 0)
    return Candidate(
        kind=Kind.CODE, change=change, edits=edits, edited_bytes=bytes_, order=order, group="size", shrinks_passes=True
    )


def _most_live_bytes(case: Case, rows: NDArray[np.int64], *, request_bytes: int = 0) -> int:
    """The most that allocations hold at one time; with the request that failed, if it is one of them."""
    allocations, count = case.recording.trace.allocations, case.recording.event_count
    size = allocations.size[rows].astype(np.int64)
    change = np.zeros(count + 2, dtype=np.int64)
    np.add.at(change, allocations.alloc_event[rows] + 1, size)
    np.subtract.at(change, np.minimum(allocations.free_requested_event[rows].astype(np.int64), count) + 1, size)
    live = np.cumsum(change)[: count + 1]
    return int(max(live.max(), live[case.event] + request_bytes))


def allocations_at(case: Case, place: Frame | None) -> NDArray[np.int64]:
    """Allocations that a place of the program made."""
    stacks = case.explained.stacks
    same = np.array([stacks.place(stack) == place for stack in range(stacks.count)] + [False], dtype=bool)
    return np.flatnonzero(same[stacks.rows(case.recording.trace.allocations.stack)])
