"""REC706 no-events: the file shows one moment and no history."""

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
    code="REC706",
    name="no-events",
    severity="warning",
    finds="The recording has segments and blocks but no events, or a single one.",
    why="It shows the moment at which it was written. Whether a request failed, what the peak was, what grew and which"
    " setting would have helped cannot be told from it.",
    measured="The number of events of the device.",
    do="Call torch.cuda.memory._record_memory_history() (not with enabled='state') early, then dump.",
)


def find(case: Case) -> Iterator[Finding]:
    """That only the end is known."""
    events = case.recording.event_count
    if events > 1:
        return
    facts = case.facts
    yield RULE.finding(
        f"The file has {plural(events, 'event')}: it shows the moment it was written, with"
        f" {format_bytes(facts.active_bytes)} in use of {format_bytes(facts.reserved_bytes)} reserved.",
        why="If a request failed before, the failing code may have freed its memory by then.",
        what_to_do="Record events as well: torch.cuda.memory._record_memory_history() before the model is built.",
        measurements={"events": events, "active_bytes": facts.active_bytes, "reserved_bytes": facts.reserved_bytes},
    )
