"""Which change makes a recorded run fit, measured by replaying it."""

from __future__ import annotations

from gapless.tune.advice import advised
from gapless.tune.best_fixes import best_fixes
from gapless.tune.engine import TuneOptions, TuneResult, tune
from gapless.tune.fix import Fix, Grade, Kind, Outcome, Risk
from gapless.tune.shortlist import recommended

__all__ = [
    "Fix",
    "Grade",
    "Kind",
    "Outcome",
    "Risk",
    "TuneOptions",
    "TuneResult",
    "advised",
    "best_fixes",
    "recommended",
    "tune",
]
