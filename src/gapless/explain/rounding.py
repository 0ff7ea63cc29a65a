"""Bytes lost inside blocks in use: what they are larger than what was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless.units import MIB

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case

NOTABLE_SHARE = 0.05
"""Of the memory in use; a few per cent are lost in every program."""
_MOST_OF_A_REST = MIB
"""The rest of a large segment up to this is not split off; a block that is larger by more was not split at all."""


@dataclass(frozen=True)
class Rounding:
    """The loss at the moment; sizes are bytes."""

    bytes: int
    blocks: int
    """That are larger than what was asked for."""
    largest_bytes: int
    private_pool_bytes: int
    unsplit_bytes: int
    """Of blocks that are larger by so much that they were not split."""
    decides: bool
    """Whether the request that failed would have been served without the loss, which is more than the usual."""


def rounding_of(case: Case) -> Rounding:
    """What is lost inside blocks."""
    lost: NDArray[np.int64] = case.sizes - case.state.blocks["requested"].astype(np.int64)
    lost[case.is_free] = 0
    total, refusal = int(lost.sum()), case.refusal
    left = max(case.facts.active_bytes, 1) - total
    private = case.state.segments["pool"][case.state.segment_of_block] != 0
    return Rounding(
        bytes=total,
        blocks=int((lost > 0).sum()),
        largest_bytes=int(lost.max(initial=0)),
        private_pool_bytes=int(lost[private].sum()),
        unsplit_bytes=int(lost[lost > _MOST_OF_A_REST].sum()),
        decides=refusal is not None
        and total >= NOTABLE_SHARE * (left + total)
        and refusal.is_full
        and refusal.would_fit(left, refusal.limit_bytes_least),
    )
