"""Changes worth trying, read off the recording; one file for each family, with `propose(case, sizes)`.

A family may yield None where a release does not know the option. Adding a file here adds the family.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from gapless.tune.candidate import beside_others
from gapless.tune.fix import Kind

if TYPE_CHECKING:
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes


def propose_all(case: Case, sizes: DecisiveSizes) -> list[Candidate]:
    """What every family proposes, families in order of their names, no two alike."""
    found: dict[object, Candidate] = {}
    for module in pkgutil.iter_modules(__path__):
        family = importlib.import_module(f"{__name__}.{module.name}")
        for candidate in family.propose(case, sizes):
            if candidate is not None:
                whole = beside_others(case, candidate) if candidate.kind is Kind.CODE else candidate
                found.setdefault(_identity(whole), whole)
    return list(found.values())


def _identity(candidate: Candidate) -> object:
    """What makes two candidates one: the same effect, however it is written."""
    same_card = candidate.card.capacity_bytes if candidate.card else None
    edited = candidate.change if candidate.edited_bytes else None
    return candidate.kind, candidate.settings, candidate.fraction, candidate.lifts_limit, same_card, edited
