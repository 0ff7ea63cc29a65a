"""How exactly the model repeats a recording, in sentences: every answer about other settings rests on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.report.replay import doubt

if TYPE_CHECKING:
    from gapless.recording import Recording


def trust_in(recording: Recording) -> list[str]:
    """What was checked, then every doubt."""
    check = recording.check
    if check is None or check.events_checked == 0:
        held = "no events" if recording.event_count == 0 else "no event that allocates or frees"
        return [f"Replay: this file holds {held}, so nothing could be checked."]
    release = f"PyTorch {recording.matched}" if recording.matched else f"PyTorch {recording.release} (assumed)"
    found = [
        f"Replay: {check.events_matching:,} of {check.events_checked:,} recorded decisions are reproduced exactly"
        f" with the rules of {release}."
    ]
    if recording.trace.contradiction_count:
        found.append(doubt(recording))
    first = check.first_difference
    if first is not None:
        found.append(
            f"First difference at event {first.event}: recorded {first.recorded}, replayed {first.replayed}."
            " Answers about other settings carry that doubt."
        )
    return found
