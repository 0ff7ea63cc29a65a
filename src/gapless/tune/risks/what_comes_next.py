"""What the recording cannot tell: the run after its end, and memory that grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.tune.demand import demand_beyond_bytes
from gapless.tune.fix import ENDS_HERE, Kind, Outcome, Risk
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.tried import Tried


def look(case: Case, one: Tried) -> list[Risk]:
    """Growth, or a demand that no part of the recording had shown, with the change or without."""
    if case.growth_bytes_per_step and one.candidate.kind is not Kind.CODE:
        size = format_bytes(case.growth_bytes_per_step)
        return [Risk("growth-goes-on", f"live memory grows by {size} with every step: this puts the failure off")]
    if one.outcome is not Outcome.SERVES_REQUEST:
        return []
    beyond = demand_beyond_bytes(case, one.candidate)
    if beyond:
        state = f"with {format_bytes(beyond)} more in use than ever before"
    elif one.candidate.shrinks_passes and not _has_whole_step(case):
        state = "before any step was over"
    else:
        return []
    what = "what the run needs next (in training: backward and optimizer) is not known"
    return [Risk(ENDS_HERE, f"the recording ends at the failing request, {state}: {what}")]


def _has_whole_step(case: Case) -> bool:
    """Whether a step began and ended before the critical moment."""
    steps = case.explained.steps
    return steps is not None and int((steps.boundaries <= case.event).sum()) > 1
