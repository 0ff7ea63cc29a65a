"""What a change may cost or break; one file for each kind of risk, with `look(case, candidate, replay)`."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gapless.replaying import Replay
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case
    from gapless.tune.fix import Risk


def risks_of(case: Case, candidate: Candidate, replay: Replay) -> tuple[Risk, ...]:
    """What every kind finds, after what is known from the change alone."""
    found = list(candidate.risks)
    for module in pkgutil.iter_modules(__path__):
        found += importlib.import_module(f"{__name__}.{module.name}").look(case, candidate, replay)
    return tuple(found)
