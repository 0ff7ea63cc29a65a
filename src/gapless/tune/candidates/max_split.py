"""max_split_size_mb: blocks of that size or more are never cut, so small blocks cannot pin large segments.

A value matters only by the sizes between which it lies: every value in a gap between two sizes of the run does the
same. So one value is taken from each gap, far from both ends, and then those just above and just below the sizes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.tune.candidate import Candidate, setting
from gapless.units import MIB

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_MOST = 10
_LEAST_MIB = 21
"""Releases up to 2.9 want more than 20."""


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """Values from the gaps first; expandable segments are taken out with them."""
    off: dict[str, str | None] = {"expandable_segments": None} if case.recording.settings.expandable_segments else {}
    for order, value in enumerate(values(sizes.all)[:_MOST]):
        yield setting(case, {"max_split_size_mb": str(value), **off}, order=order)


def values(sizes: tuple[int, ...]) -> list[int]:
    """Values in MiB for sizes in bytes: one from each gap, the widest gap first, then those at the sizes.

    >>> values((30 * MIB, 1070 * MIB, 1090 * MIB))
    [128, 25, 1080, 30, 31, 1070, 1071, 1090]
    """
    least = _LEAST_MIB * MIB
    ends = [least, *(size for size in sizes if size > least)]
    gaps = [(low, high) for low, high in itertools.pairwise(ends) if high >= low + 2 * MIB]
    gaps.sort(key=lambda gap: gap[0] / gap[1])
    edges = [value for size in sizes for value in (size // MIB, size // MIB + 1)]
    found = dict.fromkeys([*(_middle(low, high) for low, high in gaps), *edges[:-1]])
    return [value for value in found if value >= _LEAST_MIB]


def _middle(low: int, high: int) -> int:
    """MiB between two sizes, a power of two where one lies between them."""
    centre = math.sqrt(low * high) / MIB
    power = 1 << round(math.log2(centre))
    return power if low < power * MIB < high else round(centre)
