"""Code: a smaller batch or shorter sequences: what passes forward and backward allocate shrinks, the model does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.kinds.phases import Phase
from gapless.tune.candidate import Candidate
from gapless.tune.edits import scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_FACTORS = {0.75: "three quarters of the batch", 0.5: "half the batch", 0.25: "a quarter of the batch"}
_LEAST_SHARE = 0.05
"""Of the memory in use that has to shrink with the batch, for a smaller one to be worth a word."""


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """The largest batches first."""
    if case.growth:
        return
    rows = shrinking(case)
    alive = np.isin(rows, case.recording.alive_before(case.event))
    share = case.recording.trace.allocations.size[rows[alive]].sum() / max(case.explained.facts.active_bytes, 1)
    if share < _LEAST_SHARE:
        return
    fails_too = case.failed and _is_of_a_pass(case)
    for order, (factor, words) in enumerate(_FACTORS.items()):
        change = f"{words}, or sequences so much shorter: what forward and backward passes allocate shrinks with it"
        yield scaled(case, rows, factor, change, failed_request=fails_too, order=order)


def shrinking(case: Case) -> NDArray[np.int64]:
    """Allocations of forward passes, and of backward passes what is not of a gradient's size."""
    lives = case.explained.lives
    forward = lives.phase == Phase.FORWARD
    backward = (lives.phase == Phase.BACKWARD) & ~np.isin(lives.requested, case.explained.gradients.sizes)
    return np.flatnonzero((lives.run >= 0) & (forward | backward))


def _is_of_a_pass(case: Case) -> bool:
    """Whether the request that failed was one of a forward or backward pass."""
    phases = case.explained.phases
    run = int(phases.run_of(np.array([case.event]))[0])
    return run >= 0 and int(phases.phase[run]) in (Phase.FORWARD, Phase.BACKWARD)
