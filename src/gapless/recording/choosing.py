"""Which devices of a file are opened where it holds more than anybody reads: those that failed, then the fullest.

No machine has so many cards, but a file can say what it likes, and each device costs time and a page of text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.recording.recording import ACTION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless._core import DeviceRecording
    from gapless.recording.recording import Recording

DEVICES_MAX = 32
"""Devices of one file that a command answers for."""
_NAMED = 8


@dataclass(frozen=True)
class Rest:
    """The devices of a file that were not opened."""

    devices: int
    failed: int
    """So many of them with a failed request."""

    def __str__(self) -> str:
        """A line for people; empty where all were opened.

        >>> str(Rest(3, 0))
        'and 3 more devices, none failed; --device N asks for one'
        """
        if not self.devices:
            return ""
        noun = "device" if self.devices == 1 else "devices"
        failed = f"{self.failed:,}" if self.failed else "none"
        return f"and {self.devices:,} more {noun}, {failed} failed; --device N asks for one"


def chosen_rows(devices: Sequence[DeviceRecording], most: int | None) -> list[int]:
    """The rows that are opened, in the order of the file."""
    if most is None or len(devices) <= most:
        return list(range(len(devices)))
    keys = [(not _has_failed(device), -int(device.state.segments["size"].sum())) for device in devices]
    return sorted(sorted(range(len(devices)), key=keys.__getitem__)[:most])


def rest_of(recordings: Sequence[Recording], asked: int | None = None) -> Rest:
    """What the file of these recordings holds besides them; nothing where one device was `asked` for."""
    if asked is not None:
        return Rest(0, 0)
    opened = {recording.device for recording in recordings}
    others = [device for device in recordings[0].snapshot.devices if device.device not in opened]
    return Rest(len(others), sum(map(_has_failed, others)))


def named_devices(numbers: Sequence[int]) -> str:
    """Numbers of devices for a complaint, of very many the first.

    >>> named_devices([0, 2]), named_devices(range(100))
    ('0, 2', '0, 1, 2, 3, 4, 5, 6, 7 and 92 more')
    """
    more = len(numbers) - _NAMED
    return ", ".join(map(str, numbers[:_NAMED])) + (f" and {more:,} more" if more > 0 else "")


def _has_failed(device: DeviceRecording) -> bool:
    return bool((device.events.action == ACTION["oom"]).any())
