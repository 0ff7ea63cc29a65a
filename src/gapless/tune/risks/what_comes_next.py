"""What the recording cannot tell: the run after its end, and memory that grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.kinds.phases import Phase
from gapless.explain.state_to_come import state_to_come_bytes
from gapless.tune.demand import demand_beyond_bytes
from gapless.tune.fix import ENDS_HERE, Kind, Outcome, Risk
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.tried import Tried

_NEXT = {
    Phase.SETUP: " (in training: backward and optimizer)",
    Phase.FORWARD: " (in training: backward and optimizer)",
    Phase.BACKWARD: " (the rest of backward, and the optimizer)",
    Phase.OPTIMIZER: " (the rest of the optimizer's step)",
    Phase.BETWEEN: "",
}


def look(case: Case, one: Tried) -> list[Risk]:
    """Growth, or a demand that no part of the recording had shown, with the change or without."""
    if case.growth_bytes_per_step and one.candidate.kind is not Kind.CODE:
        size = format_bytes(case.growth_bytes_per_step)
        return [Risk("growth-goes-on", f"live memory grows by {size} with every step: this puts the failure off")]
    if one.outcome is not Outcome.SERVES_REQUEST:
        return []
    beyond = demand_beyond_bytes(case, one.candidate)
    if beyond:
        request = f"the failing request has {format_bytes(beyond)} more in use than ever before"
        shown = f"{request}, and the recording holds no whole step after it"
    elif one.candidate.shrinks_passes and not _has_whole_step(case):
        shown = "the recording holds no whole step"
    else:
        return []
    return [Risk(ENDS_HERE, f"{shown}: what the run needs next{_in_words(case)} is not known")]


def _in_words(case: Case) -> str:
    """What comes next, as far as the phase of the critical moment tells."""
    to_come = state_to_come_bytes(case.explained)
    if to_come:
        return f" beside the {format_bytes(to_come)} that the optimizer had still to make"
    phases = case.explained.phases
    run = int(phases.run_of(np.array([case.event]))[0])
    return _NEXT[Phase(int(phases.phase[run]))] if run >= 0 else _NEXT[Phase.SETUP]


def _has_whole_step(case: Case) -> bool:
    """Whether a step began and ended before the critical moment."""
    steps = case.explained.steps
    return steps is not None and int((steps.boundaries <= case.event).sum()) > 1
