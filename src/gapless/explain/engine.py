"""`explain`: one device of a recording at one moment, put together from all parts.

Nothing here decides anything: the moment, the rules and the order of verdicts each have their own file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gapless.explain.case import Case, open_case
from gapless.explain.finding import Finding, Growth, Holder, Pin, Verdict
from gapless.explain.options import ExplainOptions
from gapless.explain.rules import FALLBACK, rule_files
from gapless.explain.verdict import consequences, deciding, verdict_of
from gapless.rule import SEVERITIES
from gapless.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gapless.explain.moment import Facts
    from gapless.recording import Recording

SCHEMA = "gapless.explain/1"
_SEE_WARNINGS = "The warnings say what costs memory or trust all the same."


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a device's recording failed, or that nothing is wrong. Fixes are added by who measures them."""

    case: Case
    verdict: Verdict
    findings: tuple[Finding, ...]
    """Worst first; the verdict's own is the first."""

    @property
    def recording(self) -> Recording:
        """What was explained."""
        return self.case.recording

    @property
    def facts(self) -> Facts:
        """The allocator's numbers at the moment."""
        return self.case.facts

    @property
    def holders(self) -> tuple[Holder, ...]:
        """Who holds the memory in use."""
        return self.case.holders

    @property
    def pins(self) -> tuple[Pin, ...]:
        """What keeps segments from being returned."""
        return self.case.pins

    @property
    def growth(self) -> tuple[Growth, ...]:
        """What grows with every step."""
        return self.case.growth

    @property
    def lower_bound_bytes(self) -> int:
        """Peak of live requested bytes with a failing request: no setting needs less, and none may reach it."""
        return self.case.lower_bound_bytes

    def to_json(self) -> dict[str, Any]:
        """As gapless.explain/1, without fixes."""
        there = self.case.on_card
        return {
            "schema": SCHEMA,
            "input": input_to_json(self.recording),
            "state": {
                **self.facts.to_json(self.case.moment),
                **_limits(self.case),
                "replayed_on_bytes": there and there.card_bytes,
            },
            "replay": replay_to_json(self.recording),
            "verdict": self.verdict.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "holders": [holder.to_json() for holder in self.holders],
            "pins": [pin.to_json() for pin in self.pins],
            "growth": [growth.to_json() for growth in self.growth],
            "lower_bound_bytes": self.lower_bound_bytes,
            "fixes": [],
        }


def _limits(case: Case) -> dict[str, int | None]:
    """What the card could give to PyTorch, and what a memory limit left of it: a number, or the ends of a range."""
    facts, refusal = case.facts, case.refusal
    if refusal is None or not refusal.by_limit:
        return {"limit_bytes_most": facts.limit_bytes}
    return {
        "capacity_bytes": refusal.reserved_bytes + refusal.request.device_free_bytes,
        "limit_bytes": refusal.limit_bytes_least,
        "limit_bytes_most": refusal.limit_bytes_most,
    }


def explain(recording: Recording, options: ExplainOptions | None = None) -> Explanation:
    """Explains one device of a recording.

    Args:
        recording: What to explain.
        options: The moment, and what is known besides the file.

    Raises:
        InputError: The recording has no such moment.
    """
    case = open_case(recording, options or ExplainOptions())
    findings = [finding for file in rule_files() if file.rules[0].code != FALLBACK for finding in file.find(case)]
    if case.lacks_segments:
        findings = [finding for finding in findings if not finding.code.startswith("FRAG")]  # no hole is known
    decisive = deciding(findings)
    if decisive is None:
        decisive = _fallback(case, findings)
        findings.append(decisive)
    if recording.trace.contradiction_count and decisive.confidence == "certain":
        graded = _with_doubt(case, decisive)
        findings = [graded if finding is decisive else finding for finding in findings]
        decisive = graded
    about = _about_which_card(case, decisive)
    findings = [about if finding is decisive else finding for finding in findings]
    decisive = about
    findings = consequences(findings, decisive)
    findings.sort(key=lambda finding: (finding is not decisive, SEVERITIES.index(finding.severity)))
    return Explanation(case, verdict_of(decisive), tuple(findings))


def explain_all(recordings: Iterable[Recording], options: ExplainOptions | None = None) -> list[Explanation]:
    """Explains several devices, the worst first: failures before peaks, then the most memory reserved."""
    found = [explain(recording, options) for recording in recordings]
    return sorted(found, key=lambda one: (not one.case.moment.is_failure, -one.facts.reserved_bytes))


def input_to_json(recording: Recording) -> dict[str, Any]:
    """The part "input" of every schema that speaks of one recording."""
    values = vars(recording.settings)
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return {
        "path": recording.path,
        "kind": recording.kind,
        "torch": {
            "candidates": [str(release) for release in recording.candidates],
            "matched": str(recording.matched) if recording.matched else None,
        },
        "device": recording.device,
        "events": recording.event_count,
        "settings": {"text": recording.settings_text, "values": settings},
    }


def replay_to_json(recording: Recording) -> dict[str, Any] | None:
    """The part "replay": how exactly the model repeats the recording; None without events."""
    check = recording.check
    if check is None:
        return None
    first = check.first_difference
    return {
        "events_checked": check.events_checked,
        "events_matching": check.events_matching,
        "exact": check.exact and not recording.trace.contradiction_count,
        "corrections": check.corrections,
        "first_difference": first and {"event": first.event, "recorded": first.recorded, "replayed": first.replayed},
    }


def _about_which_card(case: Case, finding: Finding) -> Finding:
    """The finding that decides, where the reader asks about a card: of which one it is, and how sure that is."""
    there, check, message = case.on_card, case.recording.check, finding.message
    if there is not None:
        is_exact = check is not None and check.exact and case.recording.trace.is_complete
        confidence = "likely" if finding.confidence == "certain" and not is_exact else finding.confidence
        finding = replace(finding, message=f"{there.in_words}: {_going_on(message)}", confidence=confidence)
        return _too_large(case, finding) if case.lower_bound_bytes > there.card_bytes else finding
    card_bytes, refusal = case.options.card_bytes, case.refusal
    if card_bytes is not None and not case.recording.event_count:
        return replace(finding, message=f"{message} {_of_a_moment_alone(case, card_bytes)}")
    if refusal is None or card_bytes in (None, case.facts.capacity_bytes):
        return finding
    had = format_bytes(refusal.limit_bytes_least)
    return replace(finding, message=f"As recorded, where PyTorch could have {had}: {_going_on(message)}")


def _of_a_moment_alone(case: Case, card_bytes: int) -> str:
    """Whether what a file without history shows fits on the card that is asked about."""
    facts, card = case.facts, format_bytes(card_bytes)
    if facts.active_bytes > card_bytes:
        return f"With {card} for PyTorch that does not fit."
    if facts.reserved_bytes > card_bytes:
        return f"With {card} for PyTorch it fits only as far as what is cached is given back."
    return f"With {card} for PyTorch that moment fits; what came before it is not known."


def _too_large(case: Case, finding: Finding) -> Finding:
    """Of a run that no setting makes fit on the card that is asked about, whatever fails first there."""
    least = format_bytes(case.lower_bound_bytes)
    why = f"{finding.why} In all, the run has {least} live at one time, more than there is."
    if not finding.code.startswith("FRAG"):
        return replace(finding, why=why)
    besides = f"A smaller job, or a card with at least {least} for PyTorch."
    return replace(finding, why=why, what_to_do=f"No allocator setting helps. {besides}", besides=besides)


def _going_on(message: str) -> str:
    """A sentence as the second half of one."""
    return f"the {message.removeprefix('The ')}" if message.startswith("The ") else message


def _with_doubt(case: Case, finding: Finding) -> Finding:
    """A finding about a file that contradicts itself; one without segments does not show where its memory lay."""
    return replace(finding, confidence="likely" if len(case.state.segments) else "unsure")


def _fallback(case: Case, others: Iterable[Finding]) -> Finding:
    (fallback,) = (file for file in rule_files() if file.rules[0].code == FALLBACK)
    found = next(iter(fallback.find(case)))
    if any(finding.severity == "warning" for finding in others):
        return replace(found, what_to_do=f"{found.what_to_do} {_SEE_WARNINGS}")
    return found
