"""The answer of `gapless tune`, as JSON (gapless.tune/1) and as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from gapless.conf import line_to_copy
from gapless.explain.engine import input_to_json
from gapless.report.folded import folded
from gapless.report.other_devices import others_to_text
from gapless.tune import Kind, Outcome
from gapless.tune.grading import is_reached_unchanged
from gapless.tune.shortlist import one_of_each_sort
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.report.terminal import Terminal
    from gapless.tune import Fix, TuneResult
    from gapless.tune.other_devices import OtherDevice
    from gapless.tune.tried import Tried

SCHEMA = "gapless.tune/1"
_MOST_ROWS = 12
_OUTCOMES = {
    Outcome.SURVIVES: "survives",
    Outcome.SERVES_REQUEST: "serves the request",
    Outcome.UNKNOWN: "unknown",
    Outcome.FAILS: "fails",
}
_SMALLEST = "the change fits on cards from there on: the least that PyTorch must be able to reserve."
_HEADING = ("smallest card", "change", "outcome", "grade", "peak reserved", "calls")
_CHANGE, _LEFT, _GAP = 1, (1, 2, 3), 2
_WIDE, _LEAST_COLUMNS, _LEAST_CHANGE = 100, 4, 30
_SERVES_ALL = "serves all recorded"
"""Where nothing failed: the recording holds no whole step after its peak."""


def to_json(result: TuneResult, others: Sequence[OtherDevice] = ()) -> dict[str, Any]:
    """Every fact of the answer; `others`: the other devices of the file."""
    case = result.case
    return {
        "schema": SCHEMA,
        "input": input_to_json(case.recording),
        "card": {
            "name": case.card.name,
            "capacity_bytes": case.card.capacity_bytes,
            "total_bytes": case.card.total_bytes,
            "limit_bytes": case.limit.least_bytes if case.limit else None,
            "limit_bytes_most": case.limit.most_bytes if case.limit else None,
            "leave_free_bytes": case.leave_free_bytes,
        },
        "critical": {
            "at": case.explained.moment.at,
            "event": case.event,
            "request_bytes": case.request_bytes,
            "failed": case.failed,
        },
        "needs_change": result.needs_change,
        "candidates": [one.fix.to_json() for one in result.tried],
        "smallest_card_bytes": [one.smallest.bytes if one.smallest else None for one in result.tried],
        "lower_bound_bytes": case.lower_bound_bytes,
        "other_devices": [other.to_json() for other in others],
    }


def to_text(result: TuneResult, terminal: Terminal, others: Sequence[OtherDevice] = ()) -> None:
    """The line to copy, the table of what was tried, and what the best of it risks; then the other devices."""
    if others:
        terminal.line(f"Device {result.case.recording.device}")
    _verdict(result, terminal)
    terminal.line()
    rows = folded(result.tried)
    shown = _shown([one for one, _ in rows])
    kept = {id(one) for one in shown}
    _table([_row(one, words, failed=result.case.failed) for one, words in rows if id(one) in kept], terminal)
    if len(rows) > len(shown):
        terminal.line(f"... and {len(rows) - len(shown)} more; --format json gives all")
    _remarks(result, terminal)
    others_to_text(result, others, terminal)


def _shown(tried: Sequence[Tried]) -> list[Tried]:
    """The best of each family, then the best of the rest; in order of rank."""
    chosen = [
        *one_of_each_sort([one for one in tried if one.helps]),
        *one_of_each_sort([one for one in tried if not one.helps]),
    ]
    kept = {id(one) for one in [*chosen, *(one for one in tried if one not in chosen)][:_MOST_ROWS]}
    return [one for one in tried if id(one) in kept]


def _table(rows: Sequence[Sequence[str]], terminal: Terminal) -> None:
    """The card and the change first; long changes go on below, and a narrow window shows no calls and no peak."""
    columns = len(_HEADING) if terminal.width >= _WIDE else _LEAST_COLUMNS
    cells = [[terminal.edited(cell) for cell in row[:columns]] for row in (_HEADING, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(columns)]
    others = sum(widths) - widths[_CHANGE] + _GAP * (columns - 1)
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
        yield (
            (" " * _GAP)
            .join(
                cell.ljust(size) if at in _LEFT else cell.rjust(size)
                for at, (cell, size) in enumerate(zip(cells, widths, strict=True))
            )
            .rstrip()
        )


def _verdict(result: TuneResult, terminal: Terminal) -> None:
    best, case = result.best, result.case
    if best is not None and not result.needs_change:
        outcome = "the request that failed is served" if case.failed else "the recorded run fits"
        words = f"On this card nothing needs changing: {outcome} with the settings as they are."
        terminal.line(terminal.paint(words, "bold"))
        return
    no_setting = "On this card no setting that was tried helps"
    helping = [one.fix.kind for one in result.tried if one.helps]
    settings_help = Kind.SETTING in helping or Kind.LIMIT in helping
    if case.is_full:
        grows = " and grows" if case.growth else ""
        begin = "Memory is full" if settings_help else f"{no_setting}: memory is full"
        words = f"{begin}{grows}: only a smaller job or a larger card can be relied on. What was tried:"
        terminal.line(terminal.paint(words, "bold"))
    elif best is None and any(is_reached_unchanged(case, one.candidate) for one in result.tried):
        words = "As it was, the replay gets over the critical moment on this card: it cannot tell which change helps."
        terminal.line(terminal.paint(words, "bold"))
    elif best is None:
        words = f"{no_setting}, and no other change."
        terminal.line(terminal.paint(words, "bold"))
    else:
        if not settings_help:
            terminal.line(terminal.paint(f"{no_setting}. What {_does(best.fix)}:", "bold"))
        _lines_to_copy(best.fix, terminal)


def _does(fix: Fix) -> str:
    return "may, as the recording ends there" if fix.is_open_ended else "does"


def _lines_to_copy(fix: Fix, terminal: Terminal) -> None:
    """The settings, and what the program has to call beside them; first in words what is not done with these."""
    if fix.kind in (Kind.CODE, Kind.CARD) or (fix.conf is None and fix.call is None):
        terminal.line(terminal.paint(fix.change, "bold"))
    if fix.conf is not None:
        terminal.line(f"export {line_to_copy(fix.conf)}")
    if fix.call is not None:
        terminal.line(f"{fix.call}  # in the program, before it allocates")


def _row(one: Tried, change: str, *, failed: bool) -> list[str]:
    fix = one.fix
    return [
        format_bytes(one.smallest.bytes) if one.smallest else "-",
        change,
        _SERVES_ALL if fix.outcome is Outcome.SERVES_REQUEST and not failed else _OUTCOMES[fix.outcome],
        fix.grade.value,
        format_bytes(fix.reserved_bytes_peak_after),
        f"{fix.device_calls_after:,}",
    ]


def _remarks(result: TuneResult, terminal: Terminal) -> None:
    case = result.case
    before: Fix | None = result.tried[0].fix if result.tried else None
    terminal.line()
    calls = f", {before.device_calls_before:,} calls of the driver" if before else ""
    peak = format_bytes(case.before.result.reserved_bytes_peak)
    if any(one.smallest for one in result.tried):
        terminal.paragraph(f"smallest card: {_SMALLEST}", 0)
    terminal.paragraph(f"As it was: {peak} reserved at most on a card of {_room(result)}{calls}.", 0)
    if case.shrunk_bytes:
        terminal.paragraph(
            f"The run had reserved up to {format_bytes(case.shrunk_bytes)} more than it could have when the request"
            " failed. Replayed is with that little from the start, so a change that fails may only fail earlier.",
            0,
        )
    if case.limit is not None and case.limit.slack_bytes:
        least, most = format_bytes(case.limit.least_bytes), format_bytes(case.limit.most_bytes)
        terminal.paragraph(
            f"The memory limit that refused lies between {least} and {most}. All was replayed with both: unknown is"
            " where they differ.",
            0,
        )
    bound = format_bytes(case.lower_bound_bytes)
    terminal.paragraph(f"No setting can need less than {bound}, the peak of live bytes; it may be out of reach.", 0)
    for risk in result.best.fix.risks if result.best else ():
        terminal.paragraph(f"{risk.name}: {risk.message}", 0)


def _room(result: TuneResult) -> str:
    card = result.case.card
    size = format_bytes(card.capacity_bytes)
    return size if card.name in {"as recorded", size} else f"{size} ({card.name})"
