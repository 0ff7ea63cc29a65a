"""The few fixes that an explanation shows: the best of each sort, so that a choice is left.

Less work than `tune`: single settings only, and margins for the few that are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.explain.case import Case as Explained
from gapless.tune.candidates import propose_all
from gapless.tune.engine import TuneOptions, case_of
from gapless.tune.fix import Kind
from gapless.tune.larger_card import larger_card
from gapless.tune.search import measure_cards, try_all, with_card, with_risks
from gapless.tune.sizes import decisive_sizes
from gapless.tune.tried import Tried
from gapless.tune.unchanged import unchanged, with_unchanged

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.fix import Fix

_SHOWN, _MEASURED = 3, 6
_COARSE_PARTS = 128
"""A margin in words needs no more."""
_MEASURED_UP_TO = 200_000
"""Events up to which margins are looked for."""


def best_fixes(explained: Explained, options: TuneOptions | None = None) -> list[Fix]:
    """One to three fixes that help, best first; empty where nothing that was tried does, or nothing can be replayed.

    Args:
        explained: The case of the explanation.
        options: The card, what has to stay free on it, and whom to tell of progress.
    """
    if explained.recording.event_count == 0:
        return []
    chosen = options or TuneOptions()
    case = case_of(explained, chosen)
    report = chosen.progress or (lambda step, done, total: None)
    candidates = propose_all(case, decisive_sizes(case))
    report("replaying settings", 0, len(candidates))
    tried = try_all(case, candidates, lambda done: report("replaying settings", done, len(candidates)))
    found = _one_of_each_sort([one for one in tried if one.helps])
    as_it_was = unchanged(case)
    if explained.recording.event_count <= _MEASURED_UP_TO:
        found = measure_cards(case, found[:_MEASURED], parts=_COARSE_PARTS)
        found = [*found, *(_card(case) if len(_shown(case, found)) < _SHOWN else [])]
        as_it_was = measure_cards(case, [as_it_was], parts=_COARSE_PARTS)[0] if as_it_was else None
    shown = _shown(case, found)
    shown = with_unchanged(as_it_was, shown)[:_SHOWN] if as_it_was else shown
    return [with_risks(case, one).fix for one in shown]


def _one_of_each_sort(helping: list[Tried]) -> list[Tried]:
    """The best of each family of settings; of changes to the code that differ in degree, the smallest that helps."""
    best: dict[object, Tried] = {}
    for one in sorted(helping, key=lambda one: one.candidate.order if one.fix.kind is Kind.CODE else 0):
        best.setdefault((one.fix.kind, one.candidate.family or one.candidate.change), one)
    return list(best.values())


def _shown(case: Case, found: list[Tried]) -> list[Tried]:
    """Two settings and a change to the code; where memory is full, no settings, which would only put it off."""
    settings = [] if case.is_full else [one for one in found if one.fix.kind in (Kind.SETTING, Kind.LIMIT)]
    code = [one for one in found if one.fix.kind is Kind.CODE]
    cards = [one for one in found if one.fix.kind is Kind.CARD]
    settings = settings[: _SHOWN - 1] if code else settings
    return [*settings, *code, *cards][:_SHOWN]


def _card(case: Case) -> list[Tried]:
    found = larger_card(case, parts=_COARSE_PARTS)
    if found is None:
        return []
    (one,) = try_all(case, [found[0]])
    return [with_card(case, one, found[1])]
