"""max_non_split_rounding_mb: how much larger than its request an uncut block may be. Only with max_split_size_mb.

With the usual 20 MiB a request finds an uncut block only if one of nearly its size is cached. Worth more where large
requests differ by more than that.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.tune.candidate import Candidate, setting
from gapless.tune.candidates.max_split import values
from gapless.units import MIB

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_MOST_SPLITS, _MOST = 2, 2
_USUAL = 20 * MIB


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """For the likeliest limits for splitting, the distances between the sizes above them."""
    now = case.recording.settings
    if now.expandable_segments:
        return
    current = [] if now.max_split_size is None else [now.max_split_size // MIB]
    for split in [*current, *values(sizes.all)][:_MOST_SPLITS]:
        for order, rounding in enumerate(_distances(sizes, split)):
            changes = {"max_split_size_mb": str(split), "max_non_split_rounding_mb": str(rounding)}
            yield setting(case, changes, order=order)


def _distances(sizes: DecisiveSizes, split: int) -> list[int]:
    """MiB by which requests of the limit or more lie apart, where that is over the usual rounding."""
    above = [size for size in sizes.all if size >= split * MIB]
    apart = {(high - low) // MIB + 1 for low, high in itertools.pairwise(above) if high - low >= _USUAL}
    return sorted(apart)[:_MOST]
