"""REC704 contradictory: the events do not fit the segments, or each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.rule import Rule
from gapless.explain.words import plural
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="REC704",
    name="contradictory",
    severity="warning",
    finds="Events contradict the recorded segments or each other, their times run backwards, or there are no segments.",
    why="The file was cut or put together by hand, other threads allocated while it was written, or the recorder was"
    " started again with another size, which scrambles the order, or kept the state alone for a while, which leaves a"
    " hole. Figures about moments in the past may be wrong.",
    measured="While the events are undone from the recorded end backwards: each one that cannot have led to what was"
    " there after it. And each event whose time is before that of the event in front of it.",
    do="Record anew: one call of _record_memory_history, one dump, from the same thread that trains.",
)


def find(case: Case) -> Iterator[Finding]:
    """Contradictions and times that run backwards."""
    if case.lacks_segments:
        yield _without_segments(case)
        return
    trace, times = case.recording.trace, case.recording.events.time_us
    timed = times[times != _core.NO_TIME]
    backwards = int((np.diff(timed) < 0).sum())
    if not trace.contradiction_count and not backwards:
        return
    parts = []
    if trace.contradiction_count:
        parts.append(f"{plural(trace.contradiction_count, 'event')} cannot have happened as recorded")
    if backwards:
        parts.append(f"{plural(backwards, 'event')} come before the one in front of them")
    first = trace.contradictions[0] if trace.contradiction_count else None
    yield RULE.finding(
        f"The recording contradicts itself: {' and '.join(parts)}.",
        why=f"The first is event {first[0]}: {first[1]}." if first else "The order of events was scrambled.",
        what_to_do="Take figures about past moments with care, and record anew if you can.",
        measurements={
            "contradictions": trace.contradiction_count,
            "times_backwards": backwards,
            "first_event": first[0] if first else None,
        },
    )


def _without_segments(case: Case) -> Finding:
    reserved = int(case.recording.curves["reserved"][-1])
    return RULE.finding(
        f"The file holds no segments, although {format_bytes(reserved)} are reserved when it ends.",
        severity="error",
        why="What was in memory at a moment is found from the segments backwards, so it cannot be told.",
        what_to_do="Record anew, with torch.cuda.memory._dump_snapshot(). gapless replay FILE repeats the events.",
        measurements={"contradictions": case.recording.trace.contradiction_count, "reserved_bytes": reserved},
    )
