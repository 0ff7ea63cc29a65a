"""A recording opened for questions: its events with identities, its settings, its release, and how exactly it replays.

`open_recordings` is the way in; everything that explains, tunes or reports starts from its result.
"""

from __future__ import annotations

from gapless.recording.opening import OpenOptions, Progress, open_recordings
from gapless.recording.recording import Moment, Recording, State
from gapless.recording.settings import to_core

__all__ = ["Moment", "OpenOptions", "Progress", "Recording", "State", "open_recordings", "to_core"]
