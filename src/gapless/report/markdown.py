"""An explanation as Markdown, for issues and pull requests: the verdict, the numbers, the fixes with their risks, the
places, what grows, what else was found, and how far to trust it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gapless.conf import line_to_copy
from gapless.report.explanation import MOST_GROWTHS, headline, numbers_at_moment, other_findings
from gapless.report.frames import place
from gapless.report.pins import numbers_of
from gapless.report.trust import trust_in
from gapless.tune.shortlist import recommended
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.explain.finding import Finding
    from gapless.report.terminal import Terminal
    from gapless.tune import Fix

_MOST_PLACES = 10


def to_markdown(explanation: Explanation, fixes: Sequence[Fix], terminal: Terminal) -> None:
    """Writes the answer; every paragraph is one line, as Markdown wants it."""
    verdict = explanation.verdict
    terminal.line(f"### {headline(verdict)}")
    terminal.line()
    for text in (verdict.message, verdict.why, verdict.what_to_do):
        if text:
            terminal.line(f"- {text}")
    best = recommended(fixes)
    if best is not None and best.conf is not None:
        terminal.line(f"\n```sh\nexport {line_to_copy(best.conf)}\n```")
    if best is not None and best.call is not None:
        terminal.line(f"\n```python\n{best.call}  # before anything is allocated\n```")
    _table(("at the moment", "size"), numbers_at_moment(explanation), terminal)
    _fixes(fixes, terminal, has_failed=explanation.case.recorded_moment.is_failure)
    held = [
        (format_bytes(holder.bytes), str(holder.blocks), holder.kind, _code(place(terminal.frame(holder.at))))
        for holder in explanation.holders[:_MOST_PLACES]
    ]
    _table(("held", "blocks", "kind", "place"), held, terminal)
    grown = [
        (format_bytes(one.bytes_per_step), str(one.steps), _code(place(terminal.frame(one.at))))
        for one in explanation.growth[:MOST_GROWTHS]
    ]
    pinned = [
        (*numbers_of(one), _code(place(terminal.frame(one.at))))
        for one in explanation.case.pinned.by_place[:_MOST_PLACES]
    ]
    _table(("pins", "segments", "since", "place"), pinned, terminal)
    _table(("grows by a step", "steps", "place"), grown, terminal)
    _list([_found(finding, advice) for finding, advice in other_findings(explanation)], terminal)
    for sentence in trust_in(explanation.recording):
        terminal.line(f"\n{sentence}")


def _fixes(fixes: Sequence[Fix], terminal: Terminal, *, has_failed: bool) -> None:
    """The changes that were replayed, then their risks, each explained once."""
    rows = [
        (
            fix.change,
            fix.outcome.in_words(has_failed=has_failed),
            fix.grade.value,
            format_bytes(fix.reserved_bytes_peak_after),
            _size(fix.smallest_card_bytes),
            _size(fix.margin_bytes),
            ", ".join(risk.name for risk in fix.risks) or "-",
        )
        for fix in fixes
    ]
    _table(("change", "outcome", "grade", "reserved at most", "smallest card", "margin", "risks"), rows, terminal)
    _list(list(dict.fromkeys(f"{risk.name}: {risk.message}" for fix in fixes for risk in fix.risks)), terminal)


def _found(finding: Finding, advice: str) -> str:
    what = f"{finding.severity} {finding.code} {finding.name}: {finding.message}"
    return f"{what} Do: {advice}" if advice else what


def _list(items: Sequence[str], terminal: Terminal) -> None:
    for number, item in enumerate(items):
        terminal.line(f"{'' if number else chr(10)}- {item}")


def _size(size: int | None) -> str:
    return "-" if size is None else format_bytes(size)


def _code(text: str) -> str:
    """Text as code, whatever it holds."""
    return "`" + text.replace("`", "'").replace("\n", " ") + "`"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], terminal: Terminal) -> None:
    if not rows:
        return
    terminal.line()
    for cells in (head, ["---"] * len(head), *rows):
        terminal.line("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
