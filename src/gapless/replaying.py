"""Replays a recording under other settings, on another card, or edited. Out of memory is a result, never an exception.

Releases up to 2.11 break ties between equal free blocks by address, and addresses of new segments are the driver's
choice; for them every replay is run with ascending and with descending addresses, and a `Replay` holds both. So it is
with a memory limit that is known only as a range: with its least and its most.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gapless import _core
from gapless.conf import Release, Settings
from gapless.recording import to_core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gapless._core import Failure, ReplayResult
    from gapless.recording import Recording

UNLIMITED_BYTES = 1 << 50
"""A card on which nothing fails for want of memory."""
_FIRST_RELEASE_WITHOUT_ADDRESS_TIES = Release(2, 12)


@dataclass(frozen=True, kw_only=True)
class Edits:
    """Changes to the program, by allocation; empty: none. Lengths equal the number of allocations."""

    requested: Sequence[int] = ()
    """Bytes asked for; 0: never allocated."""
    free_before_event: Sequence[int] = ()
    """Freed before that event if still alive; ``_core.NEVER``: as recorded."""
    failed_request_factor: float = 1.0
    """Of the size of requests that failed in the recording."""


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """Under what a recording is replayed; what is not said is as recorded."""

    settings: Settings | None = None
    release: Release | None = None
    capacity_bytes: int = UNLIMITED_BYTES
    """What PyTorch may reserve on the card."""
    total_bytes: int | None = None
    """What the card reports as its size."""
    limit_bytes: int | None = None
    """Of a memory fraction; the least that it can be, where it is not known."""
    limit_bytes_most: int | None = None
    """The most that it can be, where it is not known."""
    start_as_recorded: bool = False
    """Memory from before the recording stays where it was, instead of being allocated anew under the settings."""
    stops_at_failure: bool = True
    state_before_event: int | None = None
    """Keep the state before it, in ``ReplayResult.state``."""
    keeps_state_at_failure: bool = False
    """Keep the state at the first request that fails instead, after all was given back for it."""
    keeps_timeline: bool = False
    switch: tuple[int, Settings] | None = None
    """From that event on other settings hold, as after a call of ``_set_allocator_settings``."""
    edits: Edits = field(default_factory=Edits)


@dataclass(frozen=True)
class Replay:
    """What a recording takes under given options; one result for each order of addresses, and for the least and the
    most that a limit can be, where these can matter."""

    options: ReplayOptions
    results: tuple[ReplayResult, ...]

    @property
    def result(self) -> ReplayResult:
        """The worse result: one that fails first, else the one that reserves most."""
        return max(self.results, key=lambda r: (bool(r.failures), -r.reached_event, r.reserved_bytes_peak))

    @property
    def failures(self) -> list[Failure]:
        """Requests that failed, in the worse result."""
        return self.result.failures

    @property
    def reserved_bytes_peak_range(self) -> tuple[int, int]:
        """Least and most over what is not known, addresses and a limit; equal where that decides nothing."""
        peaks = [result.reserved_bytes_peak for result in self.results]
        return min(peaks), max(peaks)


def replay(recording: Recording, options: ReplayOptions | None = None) -> Replay:
    """Runs the recorded program once for each order of addresses, and each end of a limit's range, that can matter."""
    chosen = options or ReplayOptions()
    release = chosen.release or recording.release
    orders = (False,) if release >= _FIRST_RELEASE_WITHOUT_ADDRESS_TIES else (False, True)
    least, most = chosen.limit_bytes, chosen.limit_bytes_most
    limits = (least,) if most is None or most == least else (least, most)
    each = itertools.product(limits, orders)
    return Replay(chosen, tuple(_run(recording, replace(chosen, limit_bytes=one), release, two) for one, two in each))


def replay_many(
    recording: Recording,
    options: Sequence[ReplayOptions],
    *,
    workers: int | None = None,
    on_done: Callable[[int], None] | None = None,
) -> list[Replay]:
    """Replays under each of many options, in parallel threads; results in the order of `options`.

    Args:
        recording: What to replay.
        options: One entry a replay.
        workers: Threads; as many as there are processors when not said.
        on_done: Told how many are done, after each.
    """
    done: list[Replay] = []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        for result in pool.map(lambda chosen: replay(recording, chosen), options):
            done.append(result)
            if on_done:
                on_done(len(done))
    return done


def _run(recording: Recording, chosen: ReplayOptions, release: Release, descending: bool) -> ReplayResult:
    settings = chosen.settings or recording.settings
    options = _core.WhatIfOptions(release.major, release.minor, to_core(settings), chosen.capacity_bytes)
    options.total_bytes = chosen.total_bytes or recording.total_bytes or 0
    options.limit_bytes = chosen.limit_bytes
    options.descending_addresses = descending
    options.start_as_recorded = chosen.start_as_recorded
    options.stops_at_failure = chosen.stops_at_failure
    options.keeps_state_at_failure = chosen.keeps_state_at_failure
    options.keeps_timeline = chosen.keeps_timeline
    options.failed_request_factor = chosen.edits.failed_request_factor
    if chosen.state_before_event is not None:
        options.state_before_event = chosen.state_before_event
    if chosen.switch is not None:
        options.switch_before_event = chosen.switch[0]
        options.switched_settings = to_core(chosen.switch[1])
    return _core.what_if(
        recording.trace,
        recording.program,
        options,
        list(chosen.edits.requested),
        list(chosen.edits.free_before_event),
    )
