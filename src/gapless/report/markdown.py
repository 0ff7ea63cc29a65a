"""An explanation as Markdown, for issues and pull requests: the verdict, the numbers, the fixes, the places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gapless.conf import line_to_copy
from gapless.report.explanation import headline, place
from gapless.tune.shortlist import recommended
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.report.terminal import Terminal
    from gapless.tune import Fix

_MOST_PLACES = 10


def to_markdown(explanation: Explanation, fixes: Sequence[Fix], terminal: Terminal) -> None:
    """Writes the answer; every paragraph is one line, as Markdown wants it."""
    verdict, facts = explanation.verdict, explanation.facts
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
    _table(("at the moment", "size"), _facts(facts), terminal)
    if fixes:
        rows = [
            (fix.change, fix.outcome.value, fix.grade.value, format_bytes(fix.reserved_bytes_peak_after))
            for fix in fixes
        ]
        _table(("change", "outcome", "grade", "reserved at most"), rows, terminal)
    rows_of_places = [
        (format_bytes(holder.bytes), str(holder.blocks), holder.kind, _code(place(terminal.frame(holder.at))))
        for holder in explanation.holders[:_MOST_PLACES]
    ]
    if rows_of_places:
        _table(("held", "blocks", "kind", "place"), rows_of_places, terminal)


def _facts(facts: object) -> list[tuple[str, str]]:
    values = [(name.removesuffix("_bytes").replace("_", " "), size) for name, size in vars(facts).items()]
    return [(name, format_bytes(size)) for name, size in values if isinstance(size, int)]


def _code(text: str) -> str:
    """Text as code, whatever it holds."""
    return "`" + text.replace("`", "'").replace("\n", " ") + "`"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], terminal: Terminal) -> None:
    terminal.line()
    for cells in (head, ["---"] * len(head), *rows):
        terminal.line("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
