"""REC701 began-late: memory existed before the recording began."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.rule import Rule
from gapless.explain.words import percent, plural
from gapless.recording.recording import FREE
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="REC701",
    name="began-late",
    severity="info",
    finds="Memory existed before the first event of the recording.",
    why="Who allocated it, and when, is not known, and a replay under other settings has to assume how it would have"
    " been laid out. Its bytes are stated with every answer that rests on them.",
    measured="The events are undone from the recorded end backwards; what is left before the first event existed"
    " before. A warning when a quarter of the memory in use at the moment is of that kind and has no stack.",
    do="Call torch.cuda.memory._record_memory_history() before the model is built.",
)
_MUCH = 0.25


def find(case: Case) -> Iterator[Finding]:
    """What existed before, unless there is no history at all (REC706)."""
    start = case.recording.trace.start
    if case.recording.event_count < 2 or not len(start.segments):
        return
    used = start.blocks["state"] != FREE
    before = int(start.blocks["size"][used].astype(np.int64).sum())
    unknown = ~case.is_free & ~case.stacks.has_frames(case.block_stacks) & _is_old(case)
    placeless = int(case.sizes[unknown].sum())
    active = max(case.facts.active_bytes, 1)
    yield RULE.finding(
        f"{format_bytes(before)} in {plural(int(used.sum()), 'block')} existed before the recording began.",
        severity="warning" if placeless > _MUCH * active else "info",
        why=f"Of the memory in use at the moment, {format_bytes(placeless)} ({percent(placeless / active)}) have no"
        " known place, and what-ifs about it are modelled, not proved.",
        what_to_do="Start recording before the model is built.",
        bytes=before,
        confidence="certain",
        measurements={
            "before_bytes": before,
            "before_blocks": int(used.sum()),
            "before_reserved_bytes": int(start.segments["size"].astype(np.int64).sum()),
            "unknown_place_bytes": placeless,
        },
    )


def _is_old(case: Case) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Per block: whether it was in use before the recording."""
    old = np.zeros(len(case.sizes), dtype=bool)
    known = case.state.allocation != _core.NO_ALLOCATION
    old[known] = case.recording.trace.allocations.alloc_event[case.state.allocation[known]] < 0
    return old
