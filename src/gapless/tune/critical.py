"""The critical moment of a recording: the failing request, or where most was reserved, or where the user points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.errors import InputError
from gapless.recording import to_core
from gapless.units import MIB

if TYPE_CHECKING:
    from gapless.conf import Settings
    from gapless.recording import Recording

SMALL_REQUEST, OWN_SEGMENT = MIB, 10 * MIB
_SMALL_SEGMENT, _QUANTUM = 2 * MIB, 2 * MIB


@dataclass(frozen=True)
class Critical:
    """The moment that a fix has to get over."""

    event: int
    """0-based event of the device."""
    at: str
    """As on the command line: oom, peak, end, event:N."""
    request_bytes: int
    """The rounded request; 0 where the event is none."""
    failed: bool
    """It is a request that failed when it was recorded."""


def critical_moment(recording: Recording, at: str | None = None) -> Critical:
    """The last failing request, or without one the event at which most was reserved first.

    Args:
        recording: With at least one event.
        at: ``oom``, ``oom:K`` (1 is the first), ``peak``, ``end`` or ``event:N``; None chooses.

    Raises:
        InputError: The recording has no such moment.
    """
    word, _, number = (at or ("oom" if len(recording.oom_events) else "peak")).partition(":")
    if word == "oom":
        return _failure(recording, number)
    if word == "peak" and not number:
        return _at_event(recording, max(int(np.argmax(recording.curves["reserved"])) - 1, 0), "peak")
    if word == "end" and not number:
        return _at_event(recording, recording.event_count - 1, "end")
    if word == "event" and number.isdecimal():
        if int(number) >= recording.event_count:
            message = f"there is no event {int(number):,}: the recording has {recording.event_count:,}"
            raise InputError(message, hint=f"the last is event:{recording.event_count - 1}", where="--at")
        return _at_event(recording, int(number), f"event:{int(number)}")
    raise InputError(
        f"{(at or '')[:60]!r} is no moment", hint="write oom, oom:2, peak, end or event:1234", where="--at"
    )


def _failure(recording: Recording, number: str) -> Critical:
    events = recording.oom_events
    chosen = int(number) if number.isdecimal() else len(events) if not number else 0
    if not 1 <= chosen <= len(events):
        count = f"{len(events)} request{'' if len(events) == 1 else 's'} failed in this recording"
        raise InputError(f"there is no failure oom:{number or 1}: {count}", hint="try --at peak", where="--at")
    event = int(events[chosen - 1])
    return Critical(event, "oom" if not number else f"oom:{chosen}", int(recording.events.size[event]), True)


def _at_event(recording: Recording, event: int, at: str) -> Critical:
    allocation = int(recording.trace.allocation_of_event[event])
    # The malloc that a segment event belongs to comes right after it.
    if allocation == _core.NO_ALLOCATION and event + 1 < recording.event_count:
        allocation = int(recording.trace.allocation_of_event[event + 1])
    known = allocation != _core.NO_ALLOCATION
    size = int(recording.trace.allocations.size[allocation]) if known else 0
    return Critical(event, at, size, False)


def block_bytes(recording: Recording, requested: int, settings: Settings) -> int:
    """Bytes of the block for a request under settings."""
    return _core.block_size(requested, to_core(settings), recording.release.major, recording.release.minor)


def segment_bytes(block: int, settings: Settings) -> int:
    """Bytes that a miss asks of the device for a block of that size."""
    if block <= SMALL_REQUEST:
        return _SMALL_SEGMENT
    return settings.large_segment_size if block < OWN_SEGMENT else -(-block // _QUANTUM) * _QUANTUM
