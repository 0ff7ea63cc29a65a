"""`Tried`: a candidate with what its replay gave, and how it ranks among others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.tune.fix import Fix, Kind, Outcome

if TYPE_CHECKING:
    from gapless.replaying import Replay
    from gapless.tune.candidate import Candidate
    from gapless.tune.smallest_card import SmallestCard

_WITHOUT_COST = (Kind.SETTING, Kind.LIMIT)
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
        """Smaller is better. Margins are compared among changes on the same card only, so cards come last; of changes
        to the code that differ in degree, the smaller degree is better."""
        fix, candidate = self.fix, self.candidate
        kind = 0 if fix.kind in _WITHOUT_COST else 1 if fix.kind is Kind.CODE else 2
        return (
            fix.outcome.rank,
            kind,
            candidate.order if candidate.group else 0,
            -fix.margin_bytes if fix.margin_bytes is not None else _UNKNOWN_LAST,
            len(self.replay.result.retry_events),
            len(candidate.changes) + (candidate.fraction is not None),
            fix.reserved_bytes_peak_after,
            candidate.order,
        )
