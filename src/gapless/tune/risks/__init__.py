"""What a change may cost or break; one file for each kind of risk, with `look(case, one)`, where `one` helps."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.fix import Risk
    from gapless.tune.tried import Tried


def risks_of(case: Case, one: Tried) -> tuple[Risk, ...]:
    """What every kind finds about a change that helps; of one that does not there is nothing to warn."""
    if not one.helps:
        return ()
    found: list[Risk] = []
    for module in pkgutil.iter_modules(__path__):
        found += importlib.import_module(f"{__name__}.{module.name}").look(case, one)
    return tuple(found)
