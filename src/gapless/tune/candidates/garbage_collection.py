"""garbage_collection_threshold: cached segments go back before new ones are asked for, once so much is reserved.

It does nothing without a memory fraction. Where none is in force one is proposed with it, as much as the card allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.tune.candidate import Candidate, setting
from gapless.tune.limits import fraction_for

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_THRESHOLDS = ("0.8", "0.6")
_LARGEST = 0.99


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """Two thresholds, with a fraction where there is none."""
    if not (case.limit or case.leave_free_bytes or case.knows_card):
        return  # it needs a fraction, and of what is not known
    fraction = None if case.limit or case.leave_free_bytes else _whole_card(case)
    for order, threshold in enumerate(_THRESHOLDS):
        yield setting(case, {"garbage_collection_threshold": threshold}, order=order, fraction=fraction)


def _whole_card(case: Case) -> float:
    """The fraction that takes least away; that of 1 looks like none, and from 2.10 on is none."""
    return min(_LARGEST, fraction_for(case.card.capacity_bytes, case.card.total_bytes))
