"""The few changes worth a word: the best of each sort, so that a choice is left, and of them the one to recommend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.tune.fix import Kind, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.tune.case import Case
    from gapless.tune.fix import Fix
    from gapless.tune.tried import Tried

SHOWN = 3
_WITHOUT_COST = (Kind.NONE, Kind.SETTING, Kind.LIMIT)
"""The program and the card stay as they are."""
_SERVING = (Outcome.SURVIVES, Outcome.SERVES_REQUEST)


def one_of_each_sort(tried: Sequence[Tried]) -> list[Tried]:
    """Of each family of settings the best; of changes to the code that differ in degree, the smallest.

    Args:
        tried: In order of rank, which is kept.
    """
    chosen: dict[object, Tried] = {}
    for one in sorted(tried, key=lambda one: one.candidate.order if one.fix.kind is Kind.CODE else 0):
        chosen.setdefault((one.fix.kind, one.candidate.family or one.candidate.change), one)
    kept = {id(one) for one in chosen.values()}
    return [one for one in tried if id(one) in kept]


def shortlist(case: Case, tried: Sequence[Tried]) -> list[Tried]:
    """At most three that help, the one to recommend first and the others in order of rank.

    Two settings and a change to the code, and a larger card where there is little else. Where memory is full no
    settings, and where it grows no card: they would only put it off.

    Args:
        case: What is tuned.
        tried: In order of rank.
    """
    found = one_of_each_sort([one for one in tried if one.helps])
    as_it_was = [one for one in found if one.fix.kind is Kind.NONE]
    settings = [] if case.is_full else [one for one in found if one.fix.kind in (Kind.SETTING, Kind.LIMIT)]
    code = [one for one in found if one.fix.kind is Kind.CODE]
    cards = [] if case.growth else [one for one in found if one.fix.kind is Kind.CARD]
    settings = settings[: SHOWN - 1] if code else settings
    chosen = {id(one) for one in [*as_it_was, *settings, *code, *cards][:SHOWN]}
    kept = [one for one in found if id(one) in chosen]
    first = recommended([one.fix for one in kept])
    return sorted(kept, key=lambda one: one.fix is not first)


def recommended(fixes: Sequence[Fix]) -> Fix | None:
    """The best that helps, of equal outcomes one that leaves the program and the card as they are; None without any.

    Never a card of which it is only known that it serves the request: nobody buys one for that.

    Args:
        fixes: In order of rank.
    """
    helping = [fix for fix in fixes if fix.outcome in _SERVING and not (fix.kind is Kind.CARD and fix.is_open_ended)]
    equal = [fix for fix in helping if fix.outcome is helping[0].outcome]
    return next((fix for fix in equal if fix.kind in _WITHOUT_COST), equal[0] if equal else None)
