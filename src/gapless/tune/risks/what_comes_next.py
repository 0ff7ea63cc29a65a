"""What the recording cannot tell: the run after its end, and memory that grows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.tune.fix import Kind, Outcome, Risk
from gapless.tune.grading import outcome_of
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.replaying import Replay
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case


def look(case: Case, candidate: Candidate, replay: Replay) -> list[Risk]:
    """Of changes that help."""
    outcome = outcome_of(case, replay)
    if outcome in {Outcome.FAILS, Outcome.UNKNOWN}:
        return []
    found = []
    if case.growth_bytes_per_step and candidate.kind is not Kind.CODE:
        size = format_bytes(case.growth_bytes_per_step)
        found.append(Risk("growth-goes-on", f"live memory grows by {size} with every step: this puts the failure off"))
    elif outcome is Outcome.SERVES_REQUEST and case.demand_beyond_bytes:
        size = format_bytes(case.demand_beyond_bytes)
        message = (
            f"the recording ends at the failing request, with {size} more in use than ever before: what the run needs"
            " next is not known"
        )
        found.append(Risk("recording-ends-here", message))
    return found
