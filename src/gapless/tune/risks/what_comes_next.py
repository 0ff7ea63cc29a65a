"""What the recording cannot tell: the run after its end, and memory that grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.tune.fix import Kind, Outcome, Risk
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.tried import Tried


def look(case: Case, one: Tried) -> list[Risk]:
    """Growth, or a demand that no part of the recording had shown."""
    if one.candidate.kind is Kind.CODE:  # the edit is an assumption about just that
        return []
    if case.growth_bytes_per_step:
        size = format_bytes(case.growth_bytes_per_step)
        return [Risk("growth-goes-on", f"live memory grows by {size} with every step: this puts the failure off")]
    if one.outcome is not Outcome.SERVES_REQUEST or not case.demand_beyond_bytes:
        return []
    size = format_bytes(case.demand_beyond_bytes)
    message = (
        f"the recording ends at the failing request, with {size} more in use than ever before: what the run needs"
        " next is not known"
    )
    return [Risk("recording-ends-here", message)]
