"""Code: what grows with every step is let go when its step is over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.frames import short_place
from gapless.tune.candidate import Candidate
from gapless.tune.edits import allocations_at, freed_early
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_MOST_NAMED = 2


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """All growing places together: freed at the end of the step in which they were allocated."""
    growth, steps = case.growth, case.explained.steps
    if not growth or steps is None:
        return
    places = dict.fromkeys(one.at for one in growth)
    rows = np.concatenate([allocations_at(case, place) for place in places])
    allocations = case.recording.trace.allocations
    step = np.searchsorted(steps.boundaries, allocations.alloc_event[rows], side="right")
    # What the first step makes may be there to stay; what comes after the last boundary is still in its step.
    later = (step >= 2) & (step < len(steps.boundaries))
    rows, step = rows[later], step[later]
    names = ", ".join(short_place(place) for place in list(places)[:_MOST_NAMED])
    more = f" and {len(places) - _MOST_NAMED} other places" if len(places) > _MOST_NAMED else ""
    size = format_bytes(case.growth_bytes_per_step)
    change = f"let go after each step what {names}{more} adds to it ({size} a step)"
    yield freed_early(case, rows, steps.boundaries[step], change)
