"""REC702 ring-wrapped: the oldest events were overwritten, or cleared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.rule import Rule
from gapless.explain.words import plural
from gapless.recording.recording import FREE
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="REC702",
    name="ring-wrapped",
    severity="info",
    finds="The recorder's ring was full, so that the oldest events were lost; or recording was stopped and started"
    " anew, which clears them.",
    why="Growth over many steps, the first allocation of what leaks, and the state at the start are cut off. Nothing"
    " in the file says so, and totals counted from the events alone begin at an unknown base.",
    measured="Blocks in use at the end carry the stack of their allocation, which is only kept while recording, but the"
    " event of that allocation is not in the file: it was recorded and then overwritten (or cleared).",
    do="Raise max_entries in torch.cuda.memory._record_memory_history(max_entries=...): about 100 bytes an event and"
    " shared stacks; a million events are a few hundred MB at most.",
)


def find(case: Case) -> Iterator[Finding]:
    """The blocks at the end whose recorded allocation is not among the events."""
    recording = case.recording
    if recording.event_count < 2:
        return
    end = recording.state_before(recording.event_count)
    known = (end.blocks["state"] != FREE) & (end.allocation != _core.NO_ALLOCATION)
    lost = known & case.stacks.has_frames(end.blocks["stack"])
    lost[known] &= recording.trace.allocations.alloc_event[end.allocation[known]] < 0
    count, size = int(lost.sum()), int(end.blocks["size"][lost].astype(np.int64).sum())
    if not count:
        return
    yield RULE.finding(
        f"Events before these {recording.event_count:,} were recorded and lost: the recorder's ring was full, or was"
        " cleared.",
        why=f"{plural(count, 'block')} ({format_bytes(size)}) were recorded when they were allocated, but the event is"
        " gone.",
        what_to_do="Record with a larger max_entries, and do not stop recording in between, which clears the history.",
        bytes=size,
        confidence="likely",
        measurements={"lost_blocks": count, "lost_bytes": size, "events": recording.event_count},
    )
