"""What --redact leaves out of the answer about recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.report.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gapless.recording import Recording


def redactor_of(recordings: Iterable[Recording], others: Iterable[str] = ()) -> Redactor:
    """Of every path that answers about recordings can tell, and others."""
    paths, frames = set(others), set[tuple[str, int, str]]()
    for recording in recordings:
        paths.add(recording.path)
        frames |= recording.frames()
    return Redactor(paths, frames)
