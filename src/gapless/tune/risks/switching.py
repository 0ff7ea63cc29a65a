"""What happens if the settings are not there from the start but switched on while the job runs.

A defect of PyTorch, in every release from 2.1 to 2.14: with max_split_size_mb in force it takes large segments for
uncut. One that was cut before the switch, or by expandable segments, can be given back to the driver while tensors live
in its second half. The switch is replayed in the middle of this recording, to see whether it would happen here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.conf import parse
from gapless.replaying import replay
from gapless.tune.fix import Risk

if TYPE_CHECKING:
    from gapless.conf import Settings
    from gapless.tune.case import Case
    from gapless.tune.tried import Tried

_MOMENTS = (1, 2, 3)
"""Quarters of the recording at which the switch is tried."""
_NAME = "switch-frees-live-memory"


def look(case: Case, one: Tried) -> list[Risk]:
    """Of changes that leave a limit for splitting in force."""
    if one.candidate.conf is None:
        return []
    now = case.recording.settings
    switched = parse(one.candidate.conf, case.recording.release, previous=now).settings
    if not can_free_live(now, switched):
        return []
    event = _hit(case, switched)
    if event is None:
        when, does = "while the job runs", "can give back a segment in which tensors live, when memory runs out"
    else:
        when, does = f"before event {event:,} of this recording", "would give back a segment in which tensors live"
    return [Risk(_NAME, f"set it before the start: switched on {when}, PyTorch {does}")]


def can_free_live(before: Settings, after: Settings) -> bool:
    """Whether a switch can leave cut segments that count as uncut."""
    if after.max_split_size is None:
        return False
    lowered = before.max_split_size is None or after.max_split_size < before.max_split_size
    return lowered or before.expandable_segments != after.expandable_segments


def _hit(case: Case, switched: Settings) -> int | None:
    """The event before which the switch does harm here; None where it did not."""
    for quarter in _MOMENTS:
        event = case.recording.event_count * quarter // 4
        tried = replay(case.recording, replace(case.options(), switch=(event, switched), stops_at_failure=False))
        if any(result.undefined for result in tried.results):
            return event
    return None
