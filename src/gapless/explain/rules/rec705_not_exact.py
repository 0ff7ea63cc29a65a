"""REC705 not-exact: the replay of the recording differs from what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule
from gapless.explain.words import percent, plural

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="REC705",
    name="not-exact",
    severity="warning",
    finds="The model of the allocator, run on the recording under its own settings, decided differently somewhere.",
    why="What is said about the recorded moment stands: it comes from recorded facts. But what-ifs rest on the model,"
    " and carry this doubt.",
    measured="Every recorded allocation, free and segment event is compared with the replay; the first difference is"
    " shown. Every release that the file's keys allow was tried.",
    do="Say the release (--torch) and the settings (--conf) if the file cannot tell them. Settings changed while the"
    " job ran, CUDA graph trees and memory from IPC cannot be replayed exactly.",
)


def find(case: Case) -> Iterator[Finding]:
    """The first difference and how many events match."""
    check = case.recording.check
    if check is None or check.exact:
        return
    first = check.first_difference
    share = check.events_matching / max(check.events_checked, 1)
    yield RULE.finding(
        f"The replay matches {check.events_matching:,} of {plural(check.events_checked, 'event')} ({percent(share)}).",
        why=f"First difference at event {first.event}: recorded {first.recorded}, replayed {first.replayed}."
        if first
        else f"The replay had to be corrected {plural(check.corrections, 'time')}.",
        what_to_do="Give --torch and --conf if they are known; take what-ifs with this doubt.",
        measurements={
            "events_checked": check.events_checked,
            "events_matching": check.events_matching,
            "corrections": check.corrections,
            "first_difference_event": first.event if first else None,
        },
    )
