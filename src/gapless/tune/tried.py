"""`Tried`: a candidate with what its replay gave, and how it ranks among others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.tune.fix import Fix, Outcome

if TYPE_CHECKING:
    from gapless.replaying import Replay
    from gapless.tune.candidate import Candidate
    from gapless.tune.smallest_card import SmallestCard

_UNKNOWN_LAST = 1 << 62


@dataclass(frozen=True)
class Tried:
    """A candidate with what its replay gave."""

    candidate: Candidate
    replay: Replay
    outcome: Outcome
    fix: Fix
    smallest: SmallestCard | None = None
    """None: no size helps, or it was not looked for."""

    @property
    def helps(self) -> bool:
        """The run gets over the critical moment."""
        return self.outcome in {Outcome.SURVIVES, Outcome.SERVES_REQUEST}

    @property
    def rank(self) -> tuple[object, ...]:
        """Smaller is better. A larger card comes after all that fits the one in question: what it has to spare is no
        margin there."""
        fix, candidate = self.fix, self.candidate
        return (
            fix.outcome.rank,
            candidate.card is not None,
            -fix.margin_bytes if fix.margin_bytes is not None else _UNKNOWN_LAST,
            fix.retries_per_step or 0.0,
            len(candidate.changes) + (candidate.fraction is not None),
            fix.reserved_bytes_peak_after,
            fix.device_calls_after,
            candidate.order,
        )
