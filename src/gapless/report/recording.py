"""A recording as the `input` of the JSON schemas: what was read, and what was found out about it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gapless.recording import Recording


def input_json(recording: Recording) -> dict[str, Any]:
    """The `input` object; absent facts are None."""
    return {
        "path": recording.path,
        "kind": recording.kind,
        "torch": {
            "candidates": [str(release) for release in recording.candidates],
            "matched": str(recording.matched) if recording.matched else None,
        },
        "device": recording.device,
        "events": recording.event_count,
        "settings": {"text": recording.settings_text, "values": asdict(recording.settings)},
    }
