"""OK000 nothing-wrong: nothing failed, and no other rule speaks of an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule
from gapless.explain.words import plural, what_is_in_use
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="OK000",
    name="nothing-wrong",
    severity="info",
    finds="No request failed at the moment that was looked at, and no rule found an error.",
    why="Much cached memory after a step, holes in expandable segments, or blocks that wait for another stream look"
    " like faults and are none: the cache is there to be used again, and a request that needs it gets it.",
    measured="The recording has no out-of-memory event (or another moment was asked for), and every other rule that"
    " could speak of an error is silent. Rules look at the moment of the highest reserved memory.",
    do="Nothing. Warnings, if there are any, say what costs memory or what the recording hides. To see a failure"
    " explained, record with torch.cuda.memory._record_memory_history() and dump when it fails.",
)

_LEAST_EVENTS = 2
"""With fewer there is no history, only the moment of writing."""


def find(case: Case) -> Iterator[Finding]:
    """The finding that makes the verdict when no other does."""
    facts, others = case.facts, len(case.recording.oom_events)
    if case.recording.event_count < _LEAST_EVENTS:
        yield _one_moment(case)
        return
    when = {"peak": "At the peak", "end": "At the end"}.get(case.moment.at, f"Before event {case.moment.event:,}")
    message = (
        f"Nothing failed. {when} {format_bytes(facts.active_bytes)} were in use and"
        f" {format_bytes(facts.reserved_bytes)} reserved."
    )
    if others:
        message = message.replace("Nothing failed.", f"Nothing failed then ({plural(others, 'failure')} elsewhere).")
    idle = _cached_bytes(case)
    cached = f"{format_bytes(idle)} were cached for later use."
    if facts.active_bytes > facts.reserved_bytes:
        cached = (
            "More in use than reserved cannot be: the recording leaves out segments, so what was cached is unknown."
        )
    yield RULE.finding(
        message,
        why=f"{cached} {what_is_in_use(case)}".rstrip(),
        what_to_do="Look at a failure with --at oom." if others else "Nothing has to be done.",
        bytes=facts.reserved_bytes,
        measurements={
            "active_bytes": facts.active_bytes,
            "reserved_bytes": facts.reserved_bytes,
            "cached_bytes": idle,
            "failures": others,
        },
    )


def _cached_bytes(case: Case) -> int:
    """Reserved and not in use; 0 where the recording shows less reserved than in use."""
    return max(case.facts.reserved_bytes - case.facts.active_bytes, 0)


def _one_moment(case: Case) -> Finding:
    facts = case.facts
    return RULE.finding(
        f"No failure is recorded, nor any history. When the file was written, {format_bytes(facts.active_bytes)} were"
        f" in use and {format_bytes(facts.reserved_bytes)} reserved.",
        why=what_is_in_use(case),
        what_to_do="To learn why a run fails, record its events: torch.cuda.memory._record_memory_history() before the"
        " model is built.",
        bytes=facts.reserved_bytes,
        confidence="unsure",
        measurements={
            "active_bytes": facts.active_bytes,
            "reserved_bytes": facts.reserved_bytes,
            "cached_bytes": _cached_bytes(case),
            "failures": 0,
        },
    )
