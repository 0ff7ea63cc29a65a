"""`Recording`: one device of one file, with what later steps ask of it. Sizes are bytes, events are 0-based."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.recording.reserving import reserved_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless._core import Events, Program, SelfCheck, Snapshot, Trace
    from gapless.conf import Release, Settings

ACTION = {name: code for code, name in enumerate(_core.ACTIONS)}
"""Code of each action in ``Events.action``."""
FREE, ALLOCATED, PENDING = range(3)
"""Codes of a block's state, as in ``BLOCK_STATES``."""
Stack = list[tuple[str, int, str]]
"""Frames (file, line, function), innermost first."""


@dataclass(frozen=True)
class Moment:
    """The numbers of the allocator at one moment, in bytes; `event` is the event that comes next."""

    event: int
    allocated_bytes: int
    active_bytes: int
    reserved_bytes: int


@dataclass(frozen=True)
class State:
    """Segments and blocks before an event.

    `segments` and `blocks` are structured arrays (fields of ``DeviceState``); the blocks of segment ``s`` are
    ``blocks[s["first_block"] : s["first_block"] + s["block_count"]]``. `allocation` names each block's allocation
    (``_core.NO_ALLOCATION`` where free).
    """

    event: int
    segments: NDArray[np.void]
    blocks: NDArray[np.void]
    allocation: NDArray[np.uint32]

    def blocks_of(self, segment: int) -> NDArray[np.void]:
        """The blocks of a segment, in order of address."""
        row = self.segments[segment]
        return self.blocks[int(row["first_block"]) : int(row["first_block"]) + int(row["block_count"])]

    @cached_property
    def segment_of_block(self) -> NDArray[np.int64]:
        """For each block the index of its segment."""
        return np.repeat(np.arange(len(self.segments)), self.segments["block_count"])


@dataclass(frozen=True, eq=False)
class Recording:
    """One device of a recording, ready for questions."""

    path: str
    kind: str
    """``torch_snapshot``, whatever container it came in."""
    device: int
    snapshot: Snapshot
    trace: Trace
    program: Program
    check: SelfCheck | None
    """How exactly the model replays it; None without events."""
    candidates: tuple[Release, ...]
    """Releases that the file's keys allow."""
    matched: Release | None
    """The newest candidate that replays exactly; None when none does or nothing could be checked."""
    release: Release
    """The release whose rules are used: the matched one, else the best."""
    settings_text: str
    settings: Settings
    limit_bytes: int | None
    """Of a memory fraction, where it is known."""
    total_bytes: int | None
    """What the card reports as its size, where it is known."""

    @property
    def events(self) -> Events:
        """The events, oldest first."""
        return self._row.events

    @cached_property
    def _row(self) -> _core.DeviceRecording:
        return next(row for row in self.snapshot.devices if row.device == self.device)

    @property
    def event_count(self) -> int:
        """Number of recorded events."""
        return len(self.trace)

    @cached_property
    def oom_events(self) -> NDArray[np.int64]:
        """Events at which a request failed, oldest first."""
        return np.flatnonzero(self.events.action == ACTION["oom"])

    def stack(self, stack: int) -> Stack:
        """Frames of a stack, innermost first; empty when none was recorded. Of endless names the middle is left out."""
        if stack == _core.NO_STACK:
            return []
        return self.snapshot.stacks.frames_of(int(stack))

    def frames(self) -> set[tuple[str, int, str]]:
        """Frames that occur in any stack."""
        return {frame for stack in range(len(self.snapshot.stacks)) for frame in self.stack(stack)}

    def state_before(self, event: int) -> State:
        """Segments and blocks before an event (``event_count``: at the end), from recorded facts."""
        state = _core.state_before(self.trace, event)
        blocks = state.blocks
        alive = self.alive_before(event)
        by_address = np.full(len(blocks), _core.NO_ALLOCATION, dtype=np.uint32)
        used = np.flatnonzero(blocks["state"] != FREE)
        addresses = self.trace.allocations.address[alive]
        order = np.argsort(addresses, kind="stable")
        if len(order):
            found = np.searchsorted(addresses[order], blocks["address"][used]).clip(max=len(order) - 1)
            same = addresses[order][found] == blocks["address"][used]
            by_address[used[same]] = alive[order][found[same]]
        return State(event, state.segments, blocks, by_address)

    def alive_before(self, event: int) -> NDArray[np.int64]:
        """Allocations whose block is in use (allocated or pending) before an event."""
        allocations = self.trace.allocations
        begun = allocations.alloc_event < event
        return np.flatnonzero(begun & (allocations.free_completed_event >= event))

    @cached_property
    def curves(self) -> dict[str, NDArray[np.int64]]:
        """``allocated``, ``active``, ``reserved`` bytes before each event, and at the end."""
        allocations, count = self.trace.allocations, self.event_count
        size, begun = allocations.size.astype(np.int64), allocations.alloc_event
        change = {name: np.zeros(count + 1, dtype=np.int64) for name in ("allocated", "active")}
        start = self.trace.start.blocks
        pending = self.trace.allocation_of_start_block[start["state"] == PENDING]
        requested = np.isin(np.arange(len(size)), pending, invert=True)  # whose free request is in the recording
        for name, end in (
            ("allocated", allocations.free_requested_event),
            ("active", allocations.free_completed_event),
        ):
            counted = requested if name == "allocated" else np.ones(len(size), dtype=bool)
            np.add.at(change[name], begun[counted] + 1, size[counted])  # those from before the start: before event 0
            ended = counted & (end < count)
            np.add.at(change[name], end[ended].astype(np.int64) + 1, -size[ended])
        found = {name: np.cumsum(values) for name, values in change.items()}
        return {**found, "reserved": reserved_bytes(self.trace, self.events)}

    def moment(self, event: int) -> Moment:
        """The allocator's numbers before an event."""
        curves = self.curves
        return Moment(
            event, int(curves["allocated"][event]), int(curves["active"][event]), int(curves["reserved"][event])
        )
