"""The second round: the best of each family put together, where their options do not work against each other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from gapless.tune.candidate import Candidate, setting
from gapless.tune.fix import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.tune.case import Case
    from gapless.tune.tried import Tried

_FAMILIES = 5
_OPPOSED = {"expandable_segments", "max_split_size_mb"}
"""Together they cost more memory than each alone."""


def combine(case: Case, tried: Sequence[Tried]) -> list[Candidate]:
    """Pairs of the best candidates of different families, from results that are ranked."""
    best: dict[frozenset[str], Candidate] = {}
    for one in tried:
        if one.candidate.kind is Kind.SETTING and any(value for value in one.candidate.changes.values()):
            best.setdefault(frozenset(one.candidate.changes), one.candidate)
    families = list(best.values())[:_FAMILIES]
    found = (_together(case, first, second) for first, second in itertools.combinations(families, 2))
    return [candidate for candidate in found if candidate is not None]


def _together(case: Case, first: Candidate, second: Candidate) -> Candidate | None:
    changes = {**first.changes, **second.changes}
    agree = all(first.changes.get(name, value) == value for name, value in second.changes.items())
    if not agree or len(changes) in (len(first.changes), len(second.changes)):
        return None
    now = {name for name in _OPPOSED if changes.get(name)}
    # Where room stays free, the fraction for it hangs on the settings put together.
    fraction = None if case.leave_free_bytes else first.fraction or second.fraction
    return None if now == _OPPOSED else setting(case, changes, fraction=fraction)
