"""The answer of `gapless tune`, as JSON (gapless.tune/1) and as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gapless.conf import line_to_copy
from gapless.explain.engine import input_to_json
from gapless.report.other_devices import others_to_text
from gapless.tune import Kind, Outcome
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
_SPARE = "the card less the smallest card on which the change has that outcome; negative: what the card lacks."
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
    shown = _shown(result.tried)
    rows = [_heading(), *(_row(one, failed=result.case.failed) for one in shown)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [cell.rjust(width) if 1 < at < 6 else cell.ljust(width) for at, (cell, width) in _sized(row, widths)]
        line = "  ".join(cells).rstrip()
        terminal.line(terminal.paint(line, "bold") if number == 0 else line)
    if len(result.tried) > len(shown):
        terminal.line(f"... and {len(result.tried) - len(shown)} more; --format json gives all")
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


def _sized(row: list[str], widths: list[int]) -> list[tuple[int, tuple[str, int]]]:
    return list(enumerate(zip(row, widths, strict=True)))


def _verdict(result: TuneResult, terminal: Terminal) -> None:
    best, case = result.best, result.case
    if best is not None and not result.needs_change:
        outcome = "the request that failed is served" if case.failed else "the recorded run fits"
        words = f"On this card nothing needs changing: {outcome} with the settings as they are."
        terminal.line(terminal.paint(words, "bold"))
    elif case.is_full:
        grows = " and grows" if case.growth else ""
        words = f"Memory is full{grows}: only a smaller job or a larger card can be relied on. What was tried:"
        terminal.line(terminal.paint(words, "bold"))
    elif best is None:
        terminal.line(terminal.paint("No change that was tried gets over the critical moment on this card.", "bold"))
    else:
        _lines_to_copy(best.fix, terminal)


def _lines_to_copy(fix: Fix, terminal: Terminal) -> None:
    """The settings, and what the program has to call beside them; first in words what is not done with these."""
    if fix.kind in (Kind.CODE, Kind.CARD) or (fix.conf is None and fix.call is None):
        terminal.line(terminal.paint(fix.change, "bold"))
    if fix.conf is not None:
        terminal.line(f"export {line_to_copy(fix.conf)}")
    if fix.call is not None:
        terminal.line(f"{fix.call}  # in the program, before it allocates")


def _heading() -> list[str]:
    return ["outcome", "grade", "to spare", "peak reserved", "calls", "smallest card", "change"]


def _row(one: Tried, *, failed: bool) -> list[str]:
    fix = one.fix
    return [
        _SERVES_ALL if fix.outcome is Outcome.SERVES_REQUEST and not failed else _OUTCOMES[fix.outcome],
        fix.grade.value,
        "-" if fix.margin_bytes is None else format_bytes(fix.margin_bytes),
        format_bytes(fix.reserved_bytes_peak_after),
        f"{fix.device_calls_after:,}",
        format_bytes(one.smallest.bytes) if one.smallest else "-",
        fix.change,
    ]


def _remarks(result: TuneResult, terminal: Terminal) -> None:
    case = result.case
    before: Fix | None = result.tried[0].fix if result.tried else None
    terminal.line()
    calls = f", {before.device_calls_before:,} calls of the driver" if before else ""
    peak = format_bytes(case.before.result.reserved_bytes_peak)
    if any(one.smallest for one in result.tried):
        terminal.paragraph(f"to spare: {_SPARE}", 0)
    terminal.paragraph(f"As it was: {peak} reserved at most on a card of {_room(result)}{calls}.", 0)
    bound = format_bytes(case.lower_bound_bytes)
    terminal.paragraph(f"No setting can need less than {bound}, the peak of live bytes; it may be out of reach.", 0)
    for risk in result.best.fix.risks if result.best else ():
        terminal.paragraph(f"{risk.name}: {risk.message}", 0)


def _room(result: TuneResult) -> str:
    card = result.case.card
    size = format_bytes(card.capacity_bytes)
    return size if card.name in {"as recorded", size} else f"{size} ({card.name})"
