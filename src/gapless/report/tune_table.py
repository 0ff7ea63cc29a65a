"""The table of `gapless tune`: what was tried, by outcome and smallest card; the one to take has a mark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gapless.report.folded import folded
from gapless.tune.shortlist import one_of_each_sort
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.report.terminal import Terminal
    from gapless.tune import TuneResult
    from gapless.tune.tried import Tried

MARK = ">"
"""Before the change that is recommended."""
_MOST_ROWS = 12
_HEADING = ("", "smallest card", "change", "outcome", "grade", "peak reserved", "calls", "retries")
_CHANGE, _LEFT, _GAP = 2, (0, 2, 3, 4), 2
_WIDE, _LEAST_COLUMNS, _LEAST_CHANGE = 100, 5, 30


def tried_to_text(result: TuneResult, terminal: Terminal) -> None:
    """The best of all that was tried; how many more there are, and what is not clear from a heading."""
    rows = folded(result.tried)
    shown = {id(one) for one in _shown([one for one, _ in rows])}
    kept = sorted((row for row in rows if id(row[0]) in shown), key=lambda row: _order(row[0]))
    _table([_row(result, one, words) for one, words in kept], terminal)
    if len(rows) > len(shown):
        terminal.line(f"... and {len(rows) - len(shown)} more; --format json gives all")


def _shown(tried: Sequence[Tried]) -> list[Tried]:
    """The best of each family, then the best of the rest."""
    chosen = [
        *one_of_each_sort([one for one in tried if one.helps]),
        *one_of_each_sort([one for one in tried if not one.helps]),
    ]
    return [*chosen, *(one for one in tried if one not in chosen)][:_MOST_ROWS]


def _order(one: Tried) -> tuple[object, ...]:
    """By what the table shows; a card after what fits the one in question. Of equals the better stays before."""
    return one.outcome.rank, one.candidate.card is not None, one.smallest.bytes if one.smallest else float("inf")


def _table(rows: Sequence[Sequence[str]], terminal: Terminal) -> None:
    """The card and the change first; long changes go on below, and a narrow window shows no more than the grade."""
    columns = len(_HEADING) if terminal.width >= _WIDE else _LEAST_COLUMNS
    cells = [[terminal.edited(cell) for cell in row[:columns]] for row in (_HEADING, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(columns)]
    others = sum(widths) - widths[_CHANGE] + _GAP * (columns - 1) - 1
    widths[_CHANGE] = min(widths[_CHANGE], max(terminal.width - others, _LEAST_CHANGE))
    for number, row in enumerate(cells):
        for part in _lines(row, widths):
            terminal.line(terminal.paint(part, "bold") if number == 0 else part)


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """A row in as many lines as its change takes; settings go on after a comma."""
    width = widths[_CHANGE]
    parts: list[str] = [""]
    for word in re.findall(r"[^\s,]+,?|,|\s+", row[_CHANGE]):
        if len(parts[-1]) + len(word.rstrip()) > width and parts[-1]:
            parts.append("")
        parts[-1] = (parts[-1] + word).lstrip()
    for number, part in enumerate(parts):
        cells = ["" if number else cell for cell in row]
        cells[_CHANGE] = part.rstrip()
        sized = [
            cell.ljust(size) if at in _LEFT else cell.rjust(size)
            for at, (cell, size) in enumerate(zip(cells, widths, strict=True))
        ]
        yield f"{sized[0]} {(' ' * _GAP).join(sized[1:])}".rstrip()


def _row(result: TuneResult, one: Tried, change: str) -> list[str]:
    fix, best = one.fix, result.best
    return [
        MARK if best is not None and fix is best.fix else "",
        format_bytes(one.smallest.bytes) if one.smallest else "-",
        change,
        fix.outcome.in_words(has_failed=result.case.failed),
        fix.grade.value,
        format_bytes(fix.reserved_bytes_peak_after),
        f"{fix.device_calls_after:,}",
        f"{len(one.replay.result.retry_events):,}",
    ]
