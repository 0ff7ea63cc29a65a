"""Opening a file: read it, number its allocations, find the release whose rules replay it exactly.

Only rules differ between releases, so releases of equal rules are tried once. The newest exact one is named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gapless import _core
from gapless.conf import Release, Settings, parse
from gapless.errors import InputError, TraceError
from gapless.recording.choosing import chosen_rows, named_devices
from gapless.recording.readings import Reading, readings
from gapless.recording.recording import Recording
from gapless.recording.releases import candidates
from gapless.recording.settings import recorded_settings, to_core
from gapless.sources import open_snapshot
from gapless.units import GIB, MIB

if TYPE_CHECKING:
    from gapless._core import Program, SelfCheck, Snapshot, Trace

UNKNOWN_TOTAL_BYTES = 512 * GIB
"""A card larger than any: reservations then never run out of addresses."""


class Progress(Protocol):
    """Told how far a long step has come."""

    def __call__(self, step: str, done: int, total: int) -> None:
        """`step` in words; `done` of `total` parts."""


@dataclass(frozen=True, kw_only=True)
class OpenOptions:
    """What the user knows better than the file."""

    device: int | None = None
    devices_max: int | None = None
    """Of a file with more, those that failed are opened, and of the others the fullest."""
    release: Release | None = None
    conf: str | None = None
    """Settings text in force while it was recorded."""
    limit_bytes: int | None = None
    total_bytes: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class _Attempt:
    release: Release
    settings_text: str
    settings: Settings
    trace: Trace
    program: Program
    check: SelfCheck | None
    total_bytes: int | None

    @property
    def score(self) -> tuple[bool, int]:
        """Exact first, then more events matching."""
        return (self.check is None or self.check.exact, 0 if self.check is None else self.check.events_matching)


def open_recordings(path: str, options: OpenOptions | None = None) -> list[Recording]:
    """Every device of a snapshot that has a segment or an event, or those that `options` asks for.

    Raises:
        InputError: The file cannot be read, or has no such device.
        FormatError: It is no snapshot, or one that is cut, corrupt or hostile.
    """
    chosen = options or OpenOptions()
    report = chosen.progress or (lambda step, done, total: None)
    snapshot = open_snapshot(path, on_read=lambda done, total: report("reading MiB", done // MIB, total // MIB))
    devices = snapshot.devices
    if chosen.device is None:
        rows = chosen_rows(devices, chosen.devices_max)
    else:
        rows = [row for row, device in enumerate(devices) if chosen.device == device.device]
    if not rows and chosen.device is not None:
        known = named_devices([device.device for device in devices]) or "none"
        raise InputError(f"{path} has no device {chosen.device}; it has {known}", where=path)
    return [_open_named(path, snapshot, row, chosen, report) for row in rows]


def _open_named(path: str, snapshot: Snapshot, row: int, options: OpenOptions, report: Progress) -> Recording:
    """A device; a complaint about its events says in which file, and of which device."""
    try:
        return _open_device(path, snapshot, row, options, report)
    except TraceError as error:
        error.where = f"{path}, device {snapshot.devices[row].device}"
        error.hint = error.hint or "no PyTorch writes so: record it again"
        raise


def _open_device(path: str, snapshot: Snapshot, row: int, options: OpenOptions, report: Progress) -> Recording:
    allowed = candidates(snapshot.keys)
    tried = (options.release,) if options.release else allowed
    best: _Attempt | None = None
    distinct = _distinct(snapshot, tried, options)
    for done, release in enumerate(distinct):
        report(f"replaying as PyTorch {release}", done, len(distinct))
        attempt = _attempt(snapshot, row, release, options)
        if best is None or attempt.score > best.score:
            best = attempt
        if best.score[0]:
            break
    assert best is not None  # there is at least one candidate
    if best.check is not None:
        _core.learn_block_sizes(best.trace, best.check)
    exact = best.check is not None and best.check.exact and best.check.events_checked > 0
    return Recording(
        path=path,
        kind="torch_snapshot",
        device=snapshot.devices[row].device,
        snapshot=snapshot,
        trace=best.trace,
        program=best.program,
        check=best.check,
        candidates=allowed,
        matched=best.release if exact else None,
        release=best.release,
        settings_text=best.settings_text,
        settings=best.settings,
        limit_bytes=options.limit_bytes,
        total_bytes=best.total_bytes,
    )


def _distinct(snapshot: Snapshot, tried: tuple[Release, ...], options: OpenOptions) -> list[Release]:
    """The newest release of each group that decides alike, newest first."""
    found: dict[object, Release] = {}
    for release in sorted(tried, reverse=True):
        settings = _settings(snapshot, release, options)[1]
        found.setdefault((_core.release_rules(release.major, release.minor), settings), release)
    return list(found.values())


def _settings(snapshot: Snapshot, release: Release, options: OpenOptions) -> tuple[str, Settings]:
    if options.conf is not None:
        return options.conf, parse(options.conf, release, at_load=True).settings
    return recorded_settings(snapshot, release)


def _attempt(snapshot: Snapshot, row: int, release: Release, options: OpenOptions) -> _Attempt:
    text, settings = _settings(snapshot, release, options)
    core = to_core(settings)
    trace = _core.build_trace(snapshot, row, core, release.major, release.minor)
    events = snapshot.devices[row].events
    known = Reading(total_bytes=options.total_bytes, limit_bytes=options.limit_bytes)
    best: tuple[Reading, Program, SelfCheck | None] | None = None
    for reading in readings(trace, events, len(snapshot.pools), settings, known):
        program = reading.program(trace)
        check = None
        if len(trace):
            total = reading.total_bytes or UNKNOWN_TOTAL_BYTES
            check = _core.self_check(trace, program, release.major, release.minor, core, reading.limit_bytes, total)
        if best is None or (check and best[2] and check.events_matching > best[2].events_matching):
            best = reading, program, check
        if check is None or check.exact:
            break
    assert best is not None  # there is at least one reading
    reading, program, check = best
    if check is not None and check.asked_releases:  # the check found out that they are calls of empty_cache()
        program = reading.asking(check.asked_releases).program(trace)
    return _Attempt(release, text, settings, trace, program, check, reading.total_bytes)
