"""Code: activation checkpointing of layers that repeat: of each only its output is kept, the rest is computed again.

What a layer keeps for backward is freed when the next one begins; the last layer keeps its own, which stands for the
one that is computed anew in backward.

    layer 1      layer 2      layer 3
    a b c out    a b c out    a b c out     kept until backward now: all
    . . . out    . . . out    a b c out     with checkpoints
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.frames import short_place
from gapless.tune.candidate import Candidate
from gapless.tune.edits import freed_early
from gapless.tune.layers import Pass, forward_passes
from gapless.units import format_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_LEAST_SHARE = 0.05
"""Of the memory in use that it has to free."""


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """All repeated layers at once."""
    if case.growth:
        return
    passes = list(forward_passes(case))
    edits = [_within_layers(case, one) for one in passes]
    if not edits:
        return
    rows = np.concatenate([rows for rows, _ in edits])
    before = np.concatenate([before for _, before in edits])
    allocations = case.recording.trace.allocations
    held = (before <= case.event) & (allocations.free_requested_event[rows] >= case.event)
    saved = int(allocations.size[rows[held]].sum())
    if saved == 0 or saved < _LEAST_SHARE * case.explained.facts.active_bytes:
        return
    largest = rows[held][np.argmax(allocations.size[rows[held]])]
    place = short_place(case.explained.stacks.place(int(allocations.stack[largest])))
    layers = len(passes[0].begins)
    change = f"checkpoint the {layers} layers around {place}: {format_bytes(saved)} less is kept for backward"
    found = freed_early(case, rows, before, change)
    yield replace(found, shrinks_passes=True) if found else None


def _within_layers(case: Case, one: Pass) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Allocations that a layer keeps besides its output, and for each the event at which the next layer begins."""
    following = np.append(one.begins[1:], np.iinfo(np.int64).max)[one.layer]
    died = case.recording.trace.allocations.free_requested_event[one.rows].astype(np.int64)
    kept = np.flatnonzero((died > following) & (one.layer < len(one.begins) - 1))
    # In order of event, so the last of a layer is what it hands on.
    is_output = np.diff(one.layer[kept], append=-1) != 0
    kept = kept[~is_output]
    return one.rows[kept], following[kept]
