"""The order of results, best first.

Note [Ranking]

    outcome, margin, retries per step, number of settings changed, grade, reserved peak

A larger card comes after all that fits the one in question: what it has to spare is no margin there. Margins count as
equal where they differ by less than 2 % of the card and 256 MiB, so that no setting is added to a simple change for
the sake of a few pages; a band of equal margins begins at the best of them. Nor for the sake of one retry in more
than ten steps, which counts as none. Where steps are not known, retries that the run as it was had not are
counted instead, and decide only between equal numbers of settings: how often they come is not known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gapless.tune.fix import Grade, Kind
from gapless.units import MIB

if TYPE_CHECKING:
    from gapless.tune.tried import Tried

_RARE_RETRIES = 0.1
_EQUAL_BYTES, _EQUAL_SHARE = 256 * MIB, 0.02


def ranked(tried: Iterable[Tried]) -> list[Tried]:
    """Best first; see Note [Ranking]."""
    by_margin = sorted(tried, key=_by_margin)
    bands: list[int] = []
    leader: Tried | None = None
    for one in by_margin:
        is_equal = leader is not None and _is_equal(leader, one)
        bands.append(bands[-1] if is_equal else len(bands))
        leader = leader if is_equal else one
    order = sorted(zip(bands, by_margin, strict=True), key=lambda pair: (pair[0], *_within_band(pair[1])))
    return [one for _, one in order]


def _by_margin(one: Tried) -> tuple[object, ...]:
    margin = one.fix.margin_bytes
    return one.outcome.rank, one.candidate.card is not None, margin is None, -(margin or 0)


def _is_equal(leader: Tried, one: Tried) -> bool:
    if _by_margin(leader)[:3] != _by_margin(one)[:3]:
        return False
    least, most = one.fix.margin_bytes, leader.fix.margin_bytes
    if least is None or most is None or leader.smallest is None:
        return True
    card = most + leader.smallest.bytes
    return most - least < min(_EQUAL_BYTES, _EQUAL_SHARE * card)


def _within_band(one: Tried) -> tuple[object, ...]:
    fix, candidate = one.fix, one.candidate
    changes = len(candidate.changes) + (candidate.fraction is not None)
    return (
        int((fix.retries_per_step or 0.0) / _RARE_RETRIES),
        max(changes, int(fix.kind is Kind.CODE)),
        list(Grade).index(fix.grade),
        one.retries_beyond if fix.retries_per_step is None else 0,
        fix.reserved_bytes_peak_after,
        -(fix.margin_bytes or 0),
        fix.device_calls_after,
        candidate.order,
    )
