"""Who else needs memory of the card: a library that a log saw fail, or the room that the reader wants left free.

Libraries (NCCL, cuBLAS, cuDNN) take memory from the card and not from PyTorch's cache. So when one fails, the cache is
at fault if giving it back would have been enough; else memory in use or somebody else is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gapless.units import GIB, MIB

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.options import ExplainOptions

CONTEXT_BYTES = GIB // 2
"""About what the context of a process takes of the card's total."""
LARGE_CACHE_BYTES = 256 * MIB
"""What libraries ask for at once is seldom more; with less in the cache, emptying it would not have saved them."""

_LARGE_SHARE = 0.25
"""Of the card, or else of what was reserved, that a cache must be to be a reason by itself."""
_MOSTLY = 0.5
"""Of the memory in use: when so much grew, that is the reason."""


@dataclass(frozen=True, eq=False)
class Beside:
    """Somebody beside PyTorch who failed, or needs room. Sizes are bytes."""

    case: Case
    who: str
    """As the beginning of a sentence."""
    wanted_bytes: int | None
    """None: not known."""
    has_failed: bool
    """Else the reader asked for room."""

    @property
    def cached_bytes(self) -> int:
        """Reserved by PyTorch and not in use: at the end, where one failed; never in use, where room is asked for."""
        return max(self.reserved_bytes - self.active_bytes, 0)  # less is reserved where segments are not recorded

    @cached_property
    def reserved_bytes(self) -> int:
        """By PyTorch: at the end, or the most."""
        return self.case.facts.reserved_bytes if self.has_failed else int(self.case.recording.curves["reserved"].max())

    @cached_property
    def active_bytes(self) -> int:
        """In use: at the end, or the most."""
        return self.case.facts.active_bytes if self.has_failed else int(self.case.recording.curves["active"].max())

    @property
    def card_bytes(self) -> int | None:
        """What PyTorch could reserve on the card where somebody failed or needs room; None where it is not known."""
        options = self.case.options
        if self.has_failed:  # on the card of the recording, which another one says nothing of
            return recorded_card_bytes_of(options) or self.case.facts.limit_bytes
        return options.card_bytes or recorded_card_bytes_of(options) or self.case.facts.capacity_bytes

    @property
    def room_bytes(self) -> int:
        """Left on the card beside PyTorch if nobody else is there; 0 where the card is not known."""
        return max((self.card_bytes or 0) - self.reserved_bytes, 0)

    @property
    def fits_beside(self) -> bool | None:
        """Whether what is wanted fits beside all that PyTorch ever had in use; None where that is not known."""
        card_bytes = self.case.options.card_bytes or self.card_bytes
        if card_bytes is None or self.wanted_bytes is None:
            return None
        return int(self.case.recording.curves["active"].max()) + self.wanted_bytes <= card_bytes

    @property
    def is_starved_by_cache(self) -> bool:
        """Whether the cache, given back, would be enough."""
        wanted, could_have = self.wanted_bytes or 0, self.room_bytes + self.cached_bytes
        if self.has_failed:
            return self.cached_bytes >= LARGE_CACHE_BYTES and could_have >= wanted and self._cache_matters
        return self.room_bytes < wanted and self.fits_beside is True

    @property
    def is_starved_by_growth(self) -> bool:
        """Whether it failed beside memory that mostly grew: neither the cache nor others are at fault then."""
        steps = self.case.steps
        if not self.has_failed or self.is_starved_by_cache or self.outside_bytes or steps is None:
            return False
        grown = sum(one.bytes_total for one in self.case.growth)
        return bool(grown) and steps.is_training and grown >= _MOSTLY * self.active_bytes

    @property
    def _cache_matters(self) -> bool:
        """Whether the cache, given back, changes what is left on the card: else another reason is as good."""
        if self.card_bytes is not None and self.room_bytes < max(self.cached_bytes, self.wanted_bytes or 0):
            return True
        return self.cached_bytes >= _LARGE_SHARE * (self.card_bytes or self.reserved_bytes)

    @property
    def is_starved(self) -> bool:
        """Whether there is too little for it, for whatever reason."""
        return self.has_failed or self.room_bytes < (self.wanted_bytes or 0)

    @property
    def outside_bytes(self) -> int:
        """Held by others at least, as the failure shows: had it been free, the library would have got it."""
        if not self.has_failed or self.card_bytes is None:
            return 0
        wanted = LARGE_CACHE_BYTES if self.wanted_bytes is None else self.wanted_bytes
        return max(self.room_bytes - wanted, 0)


def beside_of(case: Case) -> Beside | None:
    """Who else needs memory; None when nothing is known of it, or PyTorch itself failed at the moment."""
    options = case.options
    if case.refusal is not None:
        return None
    if options.outside_failure is not None:
        return Beside(case, options.outside_failure, options.outside_request_bytes, True)
    if not options.leave_free_bytes or (recorded_card_bytes_of(options) or case.facts.capacity_bytes) is None:
        return None
    return Beside(case, "Others", options.leave_free_bytes, False)


def recorded_card_bytes_of(options: ExplainOptions) -> int | None:
    """What PyTorch could have reserved on the recorded run's card, as the reader or a log says: the least known."""
    known = [options.recorded_card_bytes] if options.recorded_card_bytes is not None else []
    if options.card_total_bytes is not None:
        known.append(options.card_total_bytes - CONTEXT_BYTES)
    return min(known, default=None)
