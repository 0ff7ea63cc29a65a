"""large_segment_size_mb: segments for requests over 1 MiB and under 10 MiB, and the pages of expandable segments.

Larger ones let middling blocks share; smaller ones leave less over when a page or a segment is used in part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless.tune.candidate import Candidate, setting
from gapless.units import MIB

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_SIZES_MIB = (64, 128, 32, 12)
"""All even: an odd page cannot be mapped."""
_LEAST_SHARE = 0.02
"""Of the reserved bytes, in segments of the usual size."""


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """Where such segments, or expandable ones, hold a good part of what is reserved."""
    segments, now = case.explained.state.segments, case.recording.settings
    usual = (segments["size"] == now.large_segment_size) | (segments["is_expandable"] != 0)
    share = float(segments["size"][usual].sum()) / max(float(segments["size"].sum()), 1.0)
    if share < _LEAST_SHARE or not np.any(usual):
        return
    for order, size in enumerate(_SIZES_MIB):
        if size * MIB != now.large_segment_size:
            yield setting(case, {"large_segment_size_mb": str(size)}, order=order)
