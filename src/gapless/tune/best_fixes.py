"""The few fixes that an explanation shows, from the same search as `tune`, in the same order.

For a long recording less work: single settings only, and margins for the best of each sort.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.explain.case import Case as Explained
from gapless.explain.case import as_recorded
from gapless.tune.candidates import propose_all
from gapless.tune.engine import TuneOptions, case_of, tune_case
from gapless.tune.fix import Kind
from gapless.tune.larger_card import larger_card
from gapless.tune.ranking import ranked
from gapless.tune.search import measure_cards, try_all, with_card, with_risks
from gapless.tune.shortlist import SHOWN, one_of_each_sort, shortlist
from gapless.tune.sizes import decisive_sizes
from gapless.tune.unchanged import unchanged, with_unchanged

if TYPE_CHECKING:
    from gapless.recording import Recording
    from gapless.tune.case import Case
    from gapless.tune.fix import Fix
    from gapless.tune.tried import Tried

_SEARCHED_WHOLE_UP_TO = 10_000
"""Events up to which all that `tune` does takes no longer than anyone would wait."""
_MEASURED_UP_TO, _MEASURED = 200_000, 6
"""Events up to which margins are looked for, and of how many."""


def best_fixes(explained: Explained, options: TuneOptions | None = None) -> list[Fix]:
    """One to three fixes that help, best first; empty where nothing that was tried does, or nothing can be replayed.

    Args:
        explained: The case of the explanation.
        options: The card, what has to stay free on it, and whom to tell of progress.
    """
    if explained.recording.event_count == 0:
        return []
    chosen = options or TuneOptions()
    case = case_of(as_recorded(explained), chosen)
    if is_searched_whole(explained.recording):
        return [one.fix for one in shortlist(case, tune_case(case, chosen).tried)]
    return [with_risks(case, one).fix for one in shortlist(case, _searched_quickly(case, chosen))]


def is_searched_whole(recording: Recording) -> bool:
    """Whether the fixes of an explanation are the best of all that `tune` tries; else those of a quick search."""
    return recording.event_count <= _SEARCHED_WHOLE_UP_TO


def _searched_quickly(case: Case, options: TuneOptions) -> list[Tried]:
    """The best of each sort and the run as it was, with margins; a larger card where there is little else."""
    report = options.progress or (lambda step, done, total: None)
    candidates = propose_all(case, decisive_sizes(case))
    report("replaying settings", 0, len(candidates))
    tried = try_all(case, candidates, lambda done: report("replaying settings", done, len(candidates)))
    found, as_it_was = one_of_each_sort([one for one in tried if one.helps]), unchanged(case)
    if case.recording.event_count <= _MEASURED_UP_TO:
        if case.is_full:  # settings are not shown
            found = [one for one in found if one.fix.kind is Kind.CODE]
        found = measure_cards(case, found[:_MEASURED])
        as_it_was = measure_cards(case, [as_it_was])[0] if as_it_was else None
        found = ranked([*found, *(_card(case) if len(shortlist(case, found)) < SHOWN else [])])
    return with_unchanged(as_it_was, found) if as_it_was else found


def _card(case: Case) -> list[Tried]:
    found = larger_card(case)
    if found is None:
        return []
    (one,) = try_all(case, [found[0]])
    return [with_card(case, one, found[1])]
