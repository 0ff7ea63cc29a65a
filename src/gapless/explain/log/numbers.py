"""The numbers of one message, put together: what was in use, what was free and for whom, and between which bounds.

    capacity  |  in use  | private free | unallocated |  outside PyTorch  |  free on the card  |
              '--------- reserved ------------------'                      ^ read after the failure
                                          '-- free in sum (with the card's room, for a request outside private pools)

Note [What a message counts]

PyTorch prints after it gave back every cached segment that was wholly free (unless a CUDA graph was being captured),
so what is unallocated lies beside blocks in use. "Allocated" counts rounded blocks, and from 2.4 the free blocks of
private pools too, which the message then names. The request is the segment that the card was asked for, up to 20 MiB
for a tensor of little more than 1 MiB.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from gapless.explain.refusal import FULL_SHARE
from gapless.sources.log.amount import Amount, total
from gapless.sources.log.oom_message import OomMessage
from gapless.units import MIB

Sure = Literal["certain", "likely"]
_SMALL_SEGMENT, _LARGE_SEGMENT, _SEGMENT_STEP = 2 * MIB, 20 * MIB, 2 * MIB
_ZERO = Amount.exact(0)


@dataclass(frozen=True)
class Numbers:
    """A message's numbers with all that follows from them; sizes are bytes, absent facts None."""

    message: OomMessage
    rounds_up: bool = False  # roundup_power2_divisions is set: a request may be up to twice what was asked for

    @property
    def request(self) -> Amount | None:
        """What the card was asked for."""
        return self.message.request

    @property
    def free(self) -> Amount | None:
        """Free on the card."""
        return self.message.free

    @property
    def private_free(self) -> Amount:
        """Free in private pools; zero where the message names none."""
        return self.message.private_pools or _ZERO

    @property
    def unallocated(self) -> Amount | None:
        """Reserved and free, outside private pools."""
        return self.message.unallocated

    @cached_property
    def in_use(self) -> Amount | None:
        """Allocated by the program."""
        allocated = self.message.allocated
        return None if allocated is None else (allocated - self.private_free).at_least_zero()

    @cached_property
    def reserved(self) -> Amount | None:
        """Held from the card by PyTorch."""
        if self.message.reserved is not None:
            return self.message.reserved
        if self.message.allocated is None or self.unallocated is None:
            return None
        return self.message.allocated + self.unallocated

    @cached_property
    def limit(self) -> Amount | None:
        """What PyTorch could have reserved: the memory limit, or what it had and the card had left."""
        if self.reserved is None or self.free is None:
            return self.message.allowed
        could_have = self.reserved + self.free
        return could_have if self.message.allowed is None else could_have.min_with(self.message.allowed)

    @cached_property
    def room(self) -> Amount | None:
        """What PyTorch could still have taken from the card."""
        if self.free is None or self.message.allowed is None or self.reserved is None:
            return self.free
        return self.free.min_with((self.message.allowed - self.reserved).at_least_zero())

    @cached_property
    def free_in_sum(self) -> Amount | None:
        """Room and unallocated memory together."""
        if self.room is None or self.unallocated is None:
            return None
        return self.room + self.unallocated

    @cached_property
    def missing(self) -> Amount | None:
        """By how much free memory falls short of the request in sum; at least zero."""
        if self.request is None or self.free_in_sum is None:
            return None
        return (self.request - self.free_in_sum).at_least_zero()

    @cached_property
    def outside(self) -> Amount | None:
        """Neither free nor PyTorch's: other processes, the CUDA context, libraries; on some systems the host itself."""
        if self.message.capacity is None or self.free is None or self.reserved is None:
            return None
        return (self.message.capacity - self.free - self.reserved).at_least_zero()

    @cached_property
    def own_process(self) -> Amount | None:
        """All memory of this process; in a container it is listed under a number of its own."""
        message = self.message
        if message.this_process is not None or self.reserved is None or len(message.processes) != 1:
            return message.this_process
        only = message.processes[0][1]
        return only if only.high >= self.reserved.low else None

    @cached_property
    def own_outside(self) -> Amount | None:
        """Of this process but not of PyTorch's cache: the CUDA context, NCCL, libraries."""
        if self.own_process is None or self.reserved is None:
            return None
        return (self.own_process - self.reserved).at_least_zero()

    @cached_property
    def others(self) -> Amount | None:
        """Of other processes, as the message lists them; None where it cannot be told whose the lines are."""
        if self.message.this_process is not None:
            return total([amount for _, amount in self.message.processes])
        if self.own_process is not None and self.message.capacity is not None and self.free is not None:
            return (self.message.capacity - self.free - self.own_process).at_least_zero()
        return None

    @cached_property
    def need_least(self) -> int:
        """Fewest bytes that the program can have asked for."""
        if self.request is None:
            return 0
        size = self.request.low
        if self.request.low <= _SMALL_SEGMENT <= self.request.high:
            size = 1
        elif self.request.low <= _LARGE_SEGMENT <= self.request.high:
            size = MIB + 1
        elif size > _LARGE_SEGMENT:
            size -= _SEGMENT_STEP
        return size // 2 if self.rounds_up else size

    @cached_property
    def lacks(self) -> Sure | None:
        """Whether all free memory together falls short: certain if at every rounding and for every request."""
        if self.request is None or self.free_in_sum is None:
            return None
        if self.free_in_sum.high < self.need_least:
            return "certain"
        return "likely" if self.free_in_sum.value < self.request.value else None

    @cached_property
    def in_use_share(self) -> float | None:
        """Of what PyTorch could have reserved."""
        if self.in_use is None or self.limit is None:
            return None
        return self.in_use.value / self.limit.value if self.limit.value else 1.0

    @property
    def is_full(self) -> bool:
        """Lacking in sum, or so full that perfect packing would gain next to nothing."""
        return self.lacks is not None or (self.in_use_share is not None and self.in_use_share >= FULL_SHARE)

    @property
    def card_could_serve(self) -> bool:
        """Whether the card's own free memory surely holds the request."""
        return self.request is not None and self.free is not None and self.free.surely_at_least(self.request)

    @property
    def limit_refused(self) -> bool:
        """Whether the memory limit surely refused."""
        allowed = self.message.allowed
        if allowed is None or self.reserved is None or self.request is None:
            return False
        return (allowed - self.reserved).surely_below(self.request)

    @property
    def limit_may_have_refused(self) -> bool:
        """Whether the card surely had room, so that a memory limit is all that can have refused."""
        return self.message.allowed is not None and self.card_could_serve

    @property
    def room_in_words(self) -> str:
        """Where `room` is left: under the memory limit, where that leaves less than the card."""
        allowed = self.message.allowed
        is_of_limit = allowed and self.free and self.room and self.room.value < self.free.value
        return "under the memory limit" if is_of_limit else "on the card"

    @property
    def contradiction(self) -> str:
        """What in the message cannot be, in words; empty when nothing."""
        message = self.message
        if message.allocated and message.capacity and message.capacity.surely_below(message.allocated):
            return (
                "More is allocated than the card has: the driver lends the host's memory (Windows: system memory"
                " fallback), which is slow"
            )
        if message.allocated and message.reserved and message.reserved.surely_below(message.allocated):
            return "The message says that more is allocated than reserved, which cannot be, so its numbers are doubtful"
        return ""
