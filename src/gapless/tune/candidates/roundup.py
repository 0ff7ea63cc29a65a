"""roundup_power2_divisions: sizes that differ a little from step to step become equal, and fit each other's holes.

Worth trying only where one line of the program asks for many sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless.conf.merge import format_value
from gapless.conf.options import find
from gapless.conf.settings import INTERVALS
from gapless.tune.candidate import Candidate, setting
from gapless.units import MIB

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_DIVISIONS = (4, 8, 2)
_CLASSES_BEGIN = MIB << np.arange(1, INTERVALS)
"""Sizes from which a request is of class 1, 2, ...; see `gapless.conf.settings.interval_of`."""
_MANY = 3
"""Sizes of one place from which they count as varied."""
_LEAST_SHARE = 0.1
"""Of the bytes that places of many sizes asked for, for a class of sizes to be rounded."""


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """For all sizes, and for the classes alone in which they vary."""
    classes = varied_classes(case)
    if not classes:
        return
    for order, divisions in enumerate(_DIVISIONS):
        yield setting(case, {"roundup_power2_divisions": str(divisions)}, order=order)
        yield setting(case, {"roundup_power2_divisions": _only(classes, divisions)}, order=len(_DIVISIONS) + order)


def varied_classes(case: Case) -> tuple[int, ...]:
    """Size classes (0: below 2 MiB, k: from 2**k MiB) in which places of the program ask for many sizes."""
    allocations = case.recording.trace.allocations
    large = np.flatnonzero(allocations.requested > MIB)
    place = case.explained.stacks.place_of(allocations.stack[large])
    requested = allocations.requested[large].astype(np.int64)
    known, size = np.unique(requested, return_inverse=True)
    pairs = np.sort(place * max(len(known), 1) + size)
    distinct = np.bincount(pairs[np.diff(pairs, prepend=-1) > 0] // max(len(known), 1), minlength=1)
    varied = distinct[place] >= _MANY
    of_class = np.searchsorted(_CLASSES_BEGIN, requested[varied], side="right")
    weight = np.bincount(of_class, weights=requested[varied], minlength=INTERVALS)
    return tuple(int(k) for k in np.flatnonzero(weight >= _LEAST_SHARE * max(weight.sum(), 1.0)))


def _only(classes: tuple[int, ...], divisions: int) -> str:
    """The list form that leaves all other classes alone."""
    option = find("roundup_power2_divisions")
    assert option is not None  # a name from the table of options
    return format_value(option, tuple(divisions if k in classes else 0 for k in range(INTERVALS)))
