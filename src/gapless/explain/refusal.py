"""Why a request could not be served, in bytes: what was in use, what was free, and how much of it one could have.

Note [Capacity or fragmentation]

Free in sum = what could still be taken from the device + what is cached. If that does not hold the request, or more
than 95 % of the limit is in use, the memory is full: perfect packing would gain next to nothing. Otherwise there was
enough, in pieces.

The device's room is known exactly when the card refused (its free bytes are recorded). When a memory limit refused,
its value is not recorded; it lies between the most that was ever reserved and one segment above what was reserved.
Where more than that was reserved earlier, the limit was lowered since, and is only known not to be below what was
reserved at the refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gapless.explain.request import Request, request_of

if TYPE_CHECKING:
    from gapless.explain.moment import Facts
    from gapless.recording import Recording

FULL_SHARE = 0.95
"""Share of the limit in use above which memory counts as full."""


@dataclass(frozen=True)
class Refusal:
    """A request that failed, in numbers; sizes are bytes."""

    request: Request
    by_limit: bool
    """A memory limit of the process refused, not the card."""
    limit_bytes_least: int
    """Least that the process could have reserved; equal to the most where it is known."""
    limit_bytes_most: int
    active_bytes: int
    reserved_bytes: int

    @property
    def room_bytes(self) -> int:
        """What could still be taken from the device, at least."""
        return max(self.limit_bytes_least - self.reserved_bytes, 0)

    @property
    def cached_bytes(self) -> int:
        """Reserved and not in use."""
        return max(self.reserved_bytes - self.active_bytes, 0)  # less is reserved where segments are not recorded

    @property
    def free_in_sum_bytes(self) -> int:
        """Room and cache together."""
        return self.room_bytes + self.cached_bytes

    @property
    def in_use_share(self) -> float:
        """Of the limit, at most."""
        return self.active_bytes / self.limit_bytes_least if self.limit_bytes_least else 1.0

    @property
    def missing_bytes(self) -> int:
        """How much more would have to be free for the request to fit in sum; at least 0."""
        return max(self.request.rounded_bytes - self.free_in_sum_bytes, 0)

    @property
    def limit_is_known(self) -> bool:
        """Whether it is a number; else all of the range is possible."""
        return self.limit_bytes_least == self.limit_bytes_most

    @property
    def is_full(self) -> bool:
        """See Note [Capacity or fragmentation]; with the least that the limit can be."""
        return self.free_in_sum_bytes < self.request.rounded_bytes or self.in_use_share > FULL_SHARE

    @property
    def is_full_at_most(self) -> bool:
        """The same with the most that the limit can be: where the two differ, it is not known."""
        return replace(self, limit_bytes_least=self.limit_bytes_most).is_full

    def would_fit(self, active_bytes: int, limit_bytes: int) -> bool:
        """Whether the same request would neither fail nor be near it with other numbers."""
        needed = active_bytes + self.request.rounded_bytes
        return needed <= limit_bytes and active_bytes <= FULL_SHARE * limit_bytes


def refusal_at(recording: Recording, event: int, facts: Facts) -> Refusal | None:
    """The numbers of the failure at an event; None when nothing failed there."""
    request = request_of(recording, event)
    if request is None:
        return None
    reserved = facts.reserved_bytes
    if request.refused_by_limit:
        least, most = request.limit_between(reserved, int(recording.curves["reserved"][: event + 1].max()))
    else:
        least = most = reserved + request.device_free_bytes
    if facts.limit_bytes is not None and (request.refused_by_limit or facts.limit_bytes < least):
        least = most = facts.limit_bytes
    return Refusal(request, request.refused_by_limit, least, most, facts.active_bytes, reserved)
