"""Where the free bytes lie that a failed request could not have: pieces of its own pool, or pools that are not its.

Every reserved byte that is not in use is in exactly one of the groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case
    from gapless.explain.refusal import Refusal

Cause = Literal["pieces", "stream", "pool"]


@dataclass(frozen=True)
class Pieces:
    """Free blocks of one group."""

    bytes: int
    count: int
    largest_bytes: int
    largest_block: int
    """Index of the largest; -1 when there is none."""


@dataclass(frozen=True, eq=False)
class Fragments:
    """The free blocks at a failure, by whom they could serve."""

    case: Case
    refusal: Refusal

    @cached_property
    def own(self) -> Pieces:
        """Of the request's pool, stream and size class: only too small."""
        return self._pieces(self.case.is_usable)

    @cached_property
    def other_streams(self) -> Pieces:
        """Of the request's pool and class, but cached for other streams."""
        return self._pieces(self._same_pool & ~self._same_stream & self._same_class)

    @cached_property
    def other_pools(self) -> Pieces:
        """Of the request's class, in pools that are not the request's."""
        return self._pieces(~self._same_pool & self._same_class)

    @cached_property
    def other_class(self) -> NDArray[np.bool_]:
        """Per block: whether it is free and its segment is of the size class that does not serve the request."""
        other: NDArray[np.bool_] = self.case.is_free & ~self._same_class
        return other

    @property
    def is_mostly_of_other_class(self) -> bool:
        """Whether more of what is free is of the other size class than the request could use, were it in one piece."""
        return int(self.case.sizes[self.other_class].sum()) > self.own.bytes

    @cached_property
    def rest(self) -> Pieces:
        """Of the other size class, or kept back by max_split_size."""
        taken = self.case.is_usable | (self._same_class & ~(self._same_pool & self._same_stream))
        return self._pieces(~taken)

    @property
    def cause(self) -> Cause:
        """What kept the request from being served, when there was enough in sum.

        A hole that would have fitted decides; without one, the larger amount.
        """
        wanted = self.refusal.request.rounded_bytes
        for cause, pieces in (("stream", self.other_streams), ("pool", self.other_pools)):
            if pieces.largest_bytes >= wanted:
                return "stream" if cause == "stream" else "pool"
        mine = self.own.bytes + self.rest.bytes
        if self.refusal.room_bytes + mine >= wanted:
            return "pieces"
        amounts: dict[Cause, int] = {
            "pieces": mine,
            "stream": self.other_streams.bytes,
            "pool": self.other_pools.bytes,
        }
        return max(amounts, key=lambda cause: amounts[cause])

    @cached_property
    def _same_pool(self) -> NDArray[np.bool_]:
        segments = self.case.state.segments
        same: NDArray[np.bool_] = segments["pool"] == self.refusal.request.pool
        return same[self.case.state.segment_of_block]

    @cached_property
    def _same_stream(self) -> NDArray[np.bool_]:
        segments = self.case.state.segments
        same: NDArray[np.bool_] = segments["stream"] == self.refusal.request.stream
        return same[self.case.state.segment_of_block]

    @cached_property
    def _same_class(self) -> NDArray[np.bool_]:
        return self.refusal.request.same_class(self.case.state)

    def _pieces(self, of: NDArray[np.bool_]) -> Pieces:
        found = np.flatnonzero(of & self.case.is_free)
        sizes = self.case.sizes[found]
        largest = int(sizes.argmax()) if len(sizes) else -1
        return Pieces(
            bytes=int(sizes.sum()),
            count=len(sizes),
            largest_bytes=int(sizes[largest]) if len(sizes) else 0,
            largest_block=int(found[largest]) if len(sizes) else -1,
        )


def fragments_of(case: Case) -> Fragments | None:
    """The free blocks at the failure; None when nothing failed, memory was full anyway, or a hole of its own fits."""
    refusal = case.refusal
    if refusal is None or refusal.is_full:
        return None
    is_spurious = case.facts.largest_free_block_bytes >= refusal.request.rounded_bytes
    return None if is_spurious else Fragments(case, refusal)
