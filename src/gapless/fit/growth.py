"""How each request for memory grows with the varied value: from two runs, any other is predicted by replay.

Requests of a training step are affine in the batch: a part that stays, and a part for each sample. Two runs that ask in
the same order give both parts of each request, and the edited recording is replayed on a card. Where the order differs
there is no prediction: another value chose other kernels, or another path through the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless.replaying import Edits, ReplayOptions, replay

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.cards import Card
    from gapless.fit.trial import Ran
    from gapless.recording import Recording


@dataclass(frozen=True, eq=False)
class Growth:
    """Two runs that ask for memory in the same order."""

    low: Ran
    high: Ran

    @staticmethod
    def between(low: Ran, high: Ran) -> Growth | None:
        """The growth from one run to another; None where they differ in more than sizes."""
        if low.value >= high.value or low.recordings.keys() != high.recordings.keys() or not low.recordings:
            return None
        alike = all(_asks_alike(low.recordings[key], high.recordings[key]) for key in low.recordings)
        return Growth(low, high) if alike else None

    def fits(self, value: int, card: Card) -> bool:
        """Whether a value fits on a card, as far as two runs tell."""
        for key, recording in self.low.recordings.items():
            if recording.event_count == 0:
                continue
            options = ReplayOptions(
                capacity_bytes=card.capacity_bytes,
                total_bytes=card.total_bytes,
                edits=Edits(requested=self.requested(key, value).tolist()),
            )
            if replay(recording, options).failures:
                return False
        return True

    def requested(self, key: tuple[int, int], value: int) -> NDArray[np.int64]:
        """Bytes of each request at a value."""
        assert self.low.value is not None and self.high.value is not None  # noqa: PT018  (see `between`)
        at_low = self.low.recordings[key].trace.allocations.requested.astype(np.int64)
        at_high = self.high.recordings[key].trace.allocations.requested.astype(np.int64)
        share = (value - self.low.value) / (self.high.value - self.low.value)
        grown = np.ceil(at_low + (at_high - at_low) * share)
        return np.maximum(grown, np.minimum(at_low, 1)).astype(np.int64)


def _asks_alike(one: Recording, other: Recording) -> bool:
    """Whether two recordings hold the same calls of the allocator, in the same order, on the same streams."""
    mine, theirs = one.program, other.program
    return (
        np.array_equal(mine.call, theirs.call)
        and np.array_equal(mine.allocation, theirs.allocation)
        and np.array_equal(one.trace.allocations.stream, other.trace.allocations.stream)
    )
