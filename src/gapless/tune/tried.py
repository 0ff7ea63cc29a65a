"""`Tried`: a candidate with what its replay gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.tune.fix import Fix, Outcome

if TYPE_CHECKING:
    from gapless.replaying import Replay
    from gapless.tune.candidate import Candidate
    from gapless.tune.smallest_card import SmallestCard


@dataclass(frozen=True)
class Tried:
    """A candidate with what its replay gave."""

    candidate: Candidate
    replay: Replay
    outcome: Outcome
    fix: Fix
    smallest: SmallestCard | None = None
    """None: no size helps, or it was not looked for."""
    retries_beyond: int = 0
    """Requests for which the whole cache is given back, beyond those of the run as it was."""

    @property
    def helps(self) -> bool:
        """The run gets over the critical moment."""
        return self.outcome in {Outcome.SURVIVES, Outcome.SERVES_REQUEST}
