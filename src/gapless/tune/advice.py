"""What an explanation advises once changes were replayed: only what the replay shows to help.

A rule speaks before anything is replayed, so it can but name what may help. With the fixes at hand the advice names the
one to recommend, and says plainly where none was found; what a rule advises about the program stays beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.explain.verdict import ORDER
from gapless.explain.words import alternative
from gapless.tune.fix import Grade, Kind, Outcome
from gapless.tune.shortlist import recommended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.explain import Explanation
    from gapless.explain.finding import Finding
    from gapless.tune.fix import Fix

GRADE_WORDS = {Grade.PROVED: "proved by exact replay", Grade.MODELLED: "modelled", Grade.GUESS: "a guess"}
_ABOUT_MEMORY = (*ORDER, "PEAK401")
"""Codes whose advice is empty where nothing needs changing; settings that do nothing still do nothing."""


def advised(explanation: Explanation, fixes: Sequence[Fix]) -> Explanation:
    """The same explanation, with advice that follows the replay.

    Args:
        explanation: As the rules made it.
        fixes: All that was found by replay, in order of rank; empty: it was replayed, and nothing helps.
    """
    best = recommended(fixes)
    decisive, *others = explanation.findings
    what_to_do = _advice(
        decisive, best, has_failed=explanation.case.recorded_moment.is_failure, grows=bool(explanation.growth)
    )
    findings = (replace(decisive, what_to_do=what_to_do), *(_without_settings(one, best) for one in others))
    return replace(explanation, verdict=replace(explanation.verdict, what_to_do=what_to_do), findings=tuple(findings))


def outcome_in_words(fix: Fix, *, has_failed: bool) -> str:
    """What becomes of the run, as the end of a sentence."""
    if fix.outcome is Outcome.SURVIVES:
        return "the run goes on"
    if fix.is_open_ended:
        served = "this request" if has_failed else "all that was recorded"
        return f"{served} is served, and what comes after it is not known"
    return "the request is served" if has_failed else "the recorded run fits"


def _advice(finding: Finding, best: Fix | None, *, has_failed: bool, grows: bool) -> str:
    besides = finding.what_to_do if finding.besides is None else finding.besides
    if best is None:
        if not finding.names_settings:
            return finding.what_to_do
        nothing = "No setting and no other change was shown by replay to help on this card"
        return f"{nothing}. {besides}" if besides else f"{nothing}: what is left is a smaller job or a larger card."
    outcome = outcome_in_words(best, has_failed=has_failed)
    if best.grade is not Grade.PROVED:
        outcome += f" ({GRADE_WORDS[best.grade]})"
    if best.kind is Kind.NONE:
        return f"On this card nothing needs changing: in the replay {outcome}."
    if best.kind in (Kind.SETTING, Kind.LIMIT):
        return f"{_begun(best.change)}: {outcome}. {alternative(besides)}".rstrip()
    if not finding.names_settings:
        return finding.what_to_do
    no_setting = "" if grows else "No setting that was replayed helps on this card. "
    subject = f"What does is {best.change}" if best.kind is Kind.CARD else _begun(best.change)
    rest = "" if best.kind is Kind.CARD else f" {alternative(besides)}"
    return f"{no_setting}{subject}{'. ' + _begun(outcome) if ': ' in best.change else f': {outcome}'}.{rest}".rstrip()


def _without_settings(finding: Finding, best: Fix | None) -> Finding:
    """A finding that does not decide: it names no setting of which the replay may say otherwise."""
    if best is not None and best.kind is Kind.NONE and finding.code in _ABOUT_MEMORY:
        return replace(finding, what_to_do="")
    return replace(finding, what_to_do=finding.besides or "") if finding.names_settings else finding


def _begun(text: str) -> str:
    return text[:1].upper() + text[1:]
