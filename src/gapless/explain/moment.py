"""The moment that is explained, and the allocator's numbers then.

The failing request is the one that matters, even when the file was written after the exception unwound and shows an
empty card. Without a failure it is the moment of the highest reserved memory, and of those the one of most in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless.conf import Release
from gapless.errors import InputError
from gapless.explain.options import At, ExplainOptions, parse_at
from gapless.explain.request import Request
from gapless.recording.recording import ALLOCATED, FREE, PENDING

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from gapless.recording import Recording, State


_FIRST_ROUNDED_LIMIT = Release(2, 13)


@dataclass(frozen=True)
class Moment:
    """Which moment, by the name in reports and by its event: the state is the one before it."""

    at: str
    event: int
    is_failure: bool


@dataclass(frozen=True)
class Facts:
    """The allocator's numbers at the moment, in bytes; None where nothing is known."""

    limit_bytes: int | None
    capacity_bytes: int | None
    """What PyTorch may reserve; the least where a memory limit is known only as a range."""
    device_free_bytes: int | None
    requested_bytes: int | None
    """Of a failed request, as recorded: a multiple of 512 already."""
    rounded_bytes: int | None
    segment_bytes: int | None
    """What the device was asked for."""
    allocated_bytes: int
    active_bytes: int
    reserved_bytes: int
    free_bytes: int
    largest_free_block_bytes: int
    """That the request could have used; without a request, of all."""
    pending_bytes: int
    private_pool_free_bytes: int

    def to_json(self, moment: Moment) -> dict[str, Any]:
        """As in gapless.explain/1."""
        return {"at": moment.at, "event": moment.event, **self.__dict__}


def choose_moment(recording: Recording, options: ExplainOptions) -> Moment:
    """The moment that was asked for, or the last failure, or the peak.

    Raises:
        InputError: The recording has no such moment.
    """
    if options.at is None and options.outside_failure is not None:
        return Moment("end", recording.event_count, False)
    if options.at is None:
        found = recording.oom_events
        return Moment("oom", int(found[-1]), True) if len(found) else _peak(recording)
    asked = parse_at(options.at)
    if asked.name == "oom":
        return _failure(recording, asked)
    if asked.name == "peak":
        return _peak(recording)
    if asked.name == "end" or asked.number is None:
        return Moment("end", recording.event_count, False)
    if asked.number > recording.event_count:
        raise InputError(
            f"event {asked.number} is asked for, and device {recording.device} has {recording.event_count} events",
            hint=f"events are numbered from 0; event:{recording.event_count} is the end",
            where="--at",
        )
    return Moment(options.at, asked.number, asked.number in recording.oom_events)


def _failure(recording: Recording, asked: At) -> Moment:
    events = recording.oom_events
    if not len(events):
        raise InputError(
            f"no request failed on device {recording.device} in this recording",
            hint="use --at peak, --at end or --at event:N",
            where="--at",
        )
    if asked.number is None:
        return Moment("oom", int(events[-1]), True)
    if asked.number >= len(events):
        raise InputError(
            f"failure {asked.number} is asked for, and the recording has {len(events)}",
            hint=f"failures are numbered from 0: oom:0 to oom:{len(events) - 1}",
            where="--at",
        )
    return Moment(f"oom:{asked.number}", int(events[asked.number]), True)


def _peak(recording: Recording) -> Moment:
    curves = recording.curves
    reserved = curves["reserved"]
    top = np.flatnonzero(reserved == reserved.max())
    return Moment("peak", int(top[np.argmax(curves["active"][top])]), False)


def facts_at(
    recording: Recording, moment: Moment, state: State, options: ExplainOptions, request: Request | None
) -> Facts:
    """The numbers of a state; `request`: that failed at the moment."""
    blocks = state.blocks
    size, kind = blocks["size"].astype(np.int64), blocks["state"]
    allocated, active = int(size[kind == ALLOCATED].sum()), int(size[kind != FREE].sum())
    reserved = int(state.segments["size"].astype(np.int64).sum())
    if not len(state.segments):  # a file that lists none although its events make some: they are all that is known
        known = recording.moment(moment.event)
        allocated, active, reserved = known.allocated_bytes, known.active_bytes, known.reserved_bytes
    private = state.segments["pool"][state.segment_of_block] != 0
    limit = _limit(recording, options)
    device_free = request.device_free_bytes if request else None
    return Facts(
        limit_bytes=limit,
        capacity_bytes=_capacity(options, limit, reserved, request, _most_reserved(recording, moment)),
        device_free_bytes=device_free,
        requested_bytes=request.rounded_bytes if request else None,
        rounded_bytes=request.rounded_bytes if request else None,
        segment_bytes=request.segment_bytes if request else None,
        allocated_bytes=allocated,
        active_bytes=active,
        reserved_bytes=reserved,
        free_bytes=int(size[kind == FREE].sum()),
        largest_free_block_bytes=_largest(size[_usable(recording, state, request)]),
        pending_bytes=int(size[kind == PENDING].sum()),
        private_pool_free_bytes=int(size[private & (kind == FREE)].sum()),
    )


def _usable(recording: Recording, state: State, request: Request | None) -> NDArray[np.bool_]:
    free: NDArray[np.bool_] = state.blocks["state"] == FREE
    return free & request.may_use(state, recording.settings) if request else free


def _largest(sizes: NDArray[np.int64]) -> int:
    return int(sizes.max()) if len(sizes) else 0


def _limit(recording: Recording, options: ExplainOptions) -> int | None:
    known = options.limit_bytes or recording.limit_bytes
    if known is not None:
        return known
    fraction = options.fraction
    if fraction is None and recording.settings.per_process_memory_fraction < 1:
        fraction = recording.settings.per_process_memory_fraction
    total = options.card_total_bytes or recording.total_bytes
    if fraction is None or total is None:
        return None
    # Half away from zero since 2.13, cut off before.
    return int(fraction * total + 0.5) if recording.release >= _FIRST_ROUNDED_LIMIT else int(fraction * total)


def _most_reserved(recording: Recording, moment: Moment) -> int:
    return int(recording.curves["reserved"][: moment.event + 1].max(initial=0))


def _capacity(
    options: ExplainOptions, limit: int | None, reserved: int, request: Request | None, most_reserved: int
) -> int | None:
    """What PyTorch may reserve: on the card that it was recorded on where that is said, or else on the one asked about
    where nothing failed; else what it had and could still have got at the failure."""
    said = options.recorded_card_bytes or (options.card_bytes if request is None else None)
    if said is not None:
        return said if limit is None else min(said, limit)
    if request is None:
        return limit
    if request.refused_by_limit:
        return limit if limit is not None else request.limit_between(reserved, most_reserved)[0]
    return reserved + request.device_free_bytes if limit is None else min(limit, reserved + request.device_free_bytes)
