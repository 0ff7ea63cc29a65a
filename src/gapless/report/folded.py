"""Results that differ in nothing but a size, as one: `set max_split_size_mb:128 (or 25, 30, 31)`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gapless.tune.fix import Kind

if TYPE_CHECKING:
    from gapless.tune.tried import Tried

_NUMBER = re.compile(r"(?<=:)\d+(?:\.\d+)?")
_MOST_NAMED = 4


def folded(tried: Iterable[Tried]) -> list[tuple[Tried, str]]:
    """Each result with its change in words, the best of those that are alike for all of them; the order is kept."""
    alike: dict[object, list[Tried]] = {}
    for one in tried:
        alike.setdefault(_what_it_does(one), []).append(one)
    return [(group[0], _in_words(group)) for group in alike.values()]


def _what_it_does(one: Tried) -> object:
    fix = one.fix
    pattern = _NUMBER.sub("N", fix.change) if fix.kind is Kind.SETTING else fix.change
    return fix.outcome, fix.grade, fix.margin_bytes, pattern


def _in_words(group: list[Tried]) -> str:
    first, *others = (one.fix.change for one in group)
    if not others:
        return first
    numbers = [_NUMBER.findall(change) for change in others]
    if len(numbers[0]) != 1:
        return f"{first} (or {len(others)} more such sizes)"
    named = ", ".join(found[0] for found in numbers[:_MOST_NAMED])
    more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
    return f"{first} (or {named}{more})"
