"""Code: the blocks of one place that keep segments from being returned are freed before the critical request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.frames import short_place
from gapless.explain.words import plural
from gapless.recording.recording import ALLOCATED
from gapless.tune.candidate import Candidate
from gapless.tune.edits import freed_early
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.finding import Frame
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_MOST = 2


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """The places with the most pinned memory, where a request failed for want of one piece."""
    if case.explained.fragments is None:  # nothing failed, or memory was full anyway
        return
    held: Counter[Frame | None] = Counter()
    for pin in case.explained.pins:
        for place in {block.at for block in pin.blocks}:
            held[place] += pin.free_bytes
    for place, _ in held.most_common(_MOST):
        if place is not None:
            yield _without(case, place)


def _without(case: Case, place: Frame) -> Candidate | None:
    state, stacks = case.explained.state, case.explained.stacks
    used = (state.blocks["state"] == ALLOCATED) & (state.allocation != _core.NO_ALLOCATION)
    pinned = {pin.segment for pin in case.explained.pins}
    inside = np.isin(state.segments["address"], np.array(sorted(pinned), dtype=np.uint64))[state.segment_of_block]
    rows = state.allocation[used & inside].astype(np.int64)
    mine = [stacks.place(int(stack)) == place for stack in case.recording.trace.allocations.stack[rows]]
    rows = rows[np.array(mine, dtype=bool)]
    size = format_bytes(int(case.recording.trace.allocations.size[rows].sum()))
    change = (
        f"free what {short_place(place)} keeps ({plural(len(rows), 'block')}, {size}) before the request that failed"
    )
    return freed_early(case, rows, np.full(len(rows), case.event), change)
