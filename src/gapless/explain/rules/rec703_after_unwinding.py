"""REC703 after-unwinding: the file was written after the failure had unwound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule
from gapless.explain.words import plural
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="REC703",
    name="after-unwinding",
    severity="info",
    finds="The last failure is not the last event: the file was written after the exception had freed what the failing"
    " code held.",
    why="The segments in such a file show little in use and much cached, which looks like fragmentation and is not."
    " Viewers that draw the end of the file show the wrong moment.",
    measured="Less memory is in use at the end than at the last failure. The state at the failure is found by undoing"
    " the events after it.",
    do="Nothing: the state at the failure is what is shown. To have it in the file as well, dump in an out-of-memory"
    " observer (torch._C._cuda_attach_out_of_memory_observer).",
)


def find(case: Case) -> Iterator[Finding]:
    """The events after the last failure, and how different the end looks."""
    recording = case.recording
    if not len(recording.oom_events):
        return
    last = int(recording.oom_events[-1])
    after = recording.event_count - last - 1
    then, end = recording.moment(last), recording.moment(recording.event_count)
    if not after or end.active_bytes >= then.active_bytes:
        return
    yield RULE.finding(
        f"The file was written {plural(after, 'event')} after the last failure: its segments show"
        f" {format_bytes(end.active_bytes)} in use, and {format_bytes(then.active_bytes)} were when it failed."
        f"{_going_on(case, last)}",
        why="What the failing code held was freed in between. The state shown here is the one at the failure.",
        bytes=then.active_bytes - end.active_bytes,
        measurements={
            "events_after": after,
            "active_bytes_at_failure": then.active_bytes,
            "active_bytes_at_end": end.active_bytes,
            "reserved_bytes_at_end": end.reserved_bytes,
        },
    )


def _going_on(case: Case, last: int) -> str:
    """That a program caught its failure, where it allocated after it."""
    later = int((case.recording.trace.allocations.alloc_event > last).sum())
    if not later:
        return ""
    steps = case.steps.whole_steps_after(last) if case.steps is not None and case.steps.is_training else 0
    much = f"{plural(steps, 'whole step')}" if steps else f"{plural(later, 'allocation')}"
    return f" The program caught the failure and went on for {much}."
