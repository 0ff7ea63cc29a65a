"""REC707 no-stacks: the recording does not say who allocated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.rule import Rule
from gapless.explain.words import percent
from gapless.recording.recording import ACTION
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="REC707",
    name="no-stacks",
    severity="info",
    finds="Nearly no allocation of the recording has a stack.",
    why="Without stacks nobody can say which line holds the memory, what it is for, or where a step begins.",
    measured="The share of recorded allocations with at least one frame, when there are any; and that most of the"
    " memory in use has no known place either, which blocks in the file may name.",
    do="Record with stacks: torch.cuda.memory._record_memory_history(stacks='python').",
)
_NEARLY_NONE = 0.02
_MOST = 0.5


def find(case: Case) -> Iterator[Finding]:
    """When allocations were recorded, nearly none has a frame, and most of the memory in use has no place."""
    events = case.recording.events
    allocs = np.flatnonzero(events.action == ACTION["alloc"])
    if not len(allocs):
        return
    share = float(case.stacks.has_frames(events.stack[allocs]).mean())
    if share > _NEARLY_NONE:
        return
    unknown = int(case.sizes[~case.is_free & ~case.stacks.has_frames(case.block_stacks)].sum())
    if unknown < _MOST * case.facts.active_bytes:
        return
    yield RULE.finding(
        f"Of {len(allocs):,} recorded allocations {percent(share)} have a stack: nobody can say who holds the memory.",
        why=f"{format_bytes(unknown)} in use at the moment have no known place.",
        what_to_do="Record with torch.cuda.memory._record_memory_history(stacks='python').",
        bytes=unknown,
        measurements={"allocations": len(allocs), "share_with_stack": round(share, 4), "unknown_place_bytes": unknown},
    )
