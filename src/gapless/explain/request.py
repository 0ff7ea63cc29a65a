"""The request that failed: what was asked, which free blocks it could have used, and who refused it.

A block serves only requests of its own pool, stream and size class (up to 1 MiB, or over). When the card had more
free bytes than the segment that was asked for, the card did not refuse: a memory limit of the process did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless.recording.recording import ACTION
from gapless.recording.reserving import SMALL_BYTES, segment_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.conf import Settings
    from gapless.recording import Recording, State


@dataclass(frozen=True)
class Request:
    """A failed request; sizes are bytes."""

    event: int
    rounded_bytes: int
    segment_bytes: int
    device_free_bytes: int
    pool: int
    """Index into ``Snapshot.pools``; 0 is the default pool."""
    stream: int
    """Index into ``Snapshot.streams``; 0 is the default stream."""
    stack: int

    @property
    def is_small(self) -> bool:
        """Whether the small pool serves it."""
        return self.rounded_bytes <= SMALL_BYTES

    @property
    def refused_by_limit(self) -> bool:
        """Whether the card had room for the segment that was asked for, so that something else refused."""
        return self.device_free_bytes >= self.segment_bytes

    def limit_between(self, reserved_bytes: int, most_reserved_bytes: int) -> tuple[int, int]:
        """The least and the most that a memory limit can be that refused it.

        Args:
            reserved_bytes: When it was refused.
            most_reserved_bytes: Up to then; more than the most where the limit was lowered since, and then no evidence.
        """
        most = reserved_bytes + self.segment_bytes - 1
        return max(reserved_bytes, most_reserved_bytes) if most_reserved_bytes <= most else reserved_bytes, most

    def same_class(self, state: State) -> NDArray[np.bool_]:
        """Per block: whether its segment is of the request's size class."""
        small: NDArray[np.bool_] = state.segments["is_small"].astype(bool) == self.is_small
        return small[state.segment_of_block]

    def may_use(self, state: State, settings: Settings) -> NDArray[np.bool_]:
        """Per block: whether it may serve the request if it is free, its size apart."""
        segments = state.segments
        own: NDArray[np.bool_] = (segments["pool"] == self.pool) & (segments["stream"] == self.stream)
        return own[state.segment_of_block] & self.same_class(state) & ~self._too_large(state, settings)

    def _too_large(self, state: State, settings: Settings) -> NDArray[np.bool_]:
        """Per block: whether max_split_size keeps it from the request."""
        size: NDArray[np.int64] = state.blocks["size"].astype(np.int64)
        largest = settings.max_split_size
        if largest is None:
            return np.zeros(len(size), dtype=bool)
        if self.rounded_bytes < largest:
            return np.greater_equal(size, largest)
        return np.greater_equal(size, self.rounded_bytes + settings.max_non_split_rounding)


def request_of(recording: Recording, event: int) -> Request | None:
    """The request that failed at an event; None when the event is no failure."""
    events = recording.events
    if event >= recording.event_count or events.action[event] != ACTION["oom"]:
        return None
    rounded = int(events.size[event])
    return Request(
        event=event,
        rounded_bytes=rounded,
        segment_bytes=segment_bytes(rounded, recording.settings),
        device_free_bytes=int(events.address[event]),
        pool=int(recording.trace.pool_of_event[event]),
        stream=int(events.stream[event]),
        stack=int(events.stack[event]),
    )
