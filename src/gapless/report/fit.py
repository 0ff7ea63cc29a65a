"""The largest jobs that fit, as a table and for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gapless.explain.frames import short_place
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.explain.finding import Frame
    from gapless.fit import FitResult, Ran
    from gapless.fit.engine import FitRow
    from gapless.report.terminal import Terminal

SCHEMA = "gapless.fit/1"


def to_text(result: FitResult, terminal: Terminal) -> None:
    """Writes the table, what stops the next larger value, and what "fits" means."""
    span = result.span
    choices = list(result.rows[0].choices)
    head = ["card", *choices, span.name if span else "fits", "reserved", "allocated", "to spare", "the next fails"]
    rows = [head, *(_cells(row, has_span=span is not None) for row in result.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    left = 1 + len(choices)
    for number, row in enumerate(rows):
        named = [cell.ljust(width) for cell, width in zip(row[:left], widths[:left], strict=True)]
        sized = [cell.rjust(width) for cell, width in zip(row[left:-1], widths[left:-1], strict=True)]
        line = "  ".join([*named, *sized, row[-1]]).rstrip()
        terminal.line(terminal.paint(line, "bold") if number == 0 else line)
    terminal.line()
    terminal.paragraph(_meaning(result), 0)


def _cells(row: FitRow, *, has_span: bool) -> list[str]:
    fitting, failing = row.found.fitting, row.found.failing
    answer = (str(fitting.value) if has_span else "yes") if fitting else ("none" if has_span else "no")
    sizes = ["-", "-", "-"]
    if fitting:
        spare = _spare(row, fitting)
        sizes = [format_bytes(size) for size in (fitting.reserved_bytes_peak, fitting.allocated_bytes_peak, spare)]
    return [row.found.card.name, *row.choices.values(), answer, *sizes, _limit(failing, has_span=has_span)]


def _limit(failing: Ran | None, *, has_span: bool) -> str:
    if failing is None:
        return "nothing larger was asked for" if has_span else ""
    value = f"{failing.value}: " if has_span else ""
    if failing.failure is None:
        return f"{value}out of memory"
    return value + _request(failing.failure)


def _request(failure: Explanation) -> str:
    """What was asked for, and where."""
    asked, place = failure.facts.requested_bytes, _place(failure)
    backward = failure.case.phases.is_backward(failure.case.moment.event)
    where = f" at {short_place(place)}" if place else " in the backward pass" if backward else ""
    return f"{format_bytes(asked or 0)}{where} ({failure.verdict.code})"


def _place(failure: Explanation) -> Frame | None:
    refusal = failure.case.refusal
    return failure.case.stacks.place(refusal.request.stack) if refusal else None


def _spare(row: FitRow, ran: Ran) -> int:
    """What is left on the card, with the margin."""
    return row.found.card.capacity_bytes + row.margin_bytes - ran.reserved_bytes_peak


def _meaning(result: FitResult) -> str:
    least = format_bytes(min(row.margin_bytes for row in result.rows))
    most = format_bytes(max(row.margin_bytes for row in result.rows))
    margin = least if least == most else f"{least} to {most}"
    proof = (
        "the value was run on the card, and the next larger one was run and failed"
        if result.span
        else ("the command was run on the card")
    )
    return (
        f"Fits: {proof}, with {margin} left free for libraries besides PyTorch and for steps that were not run"
        f" (--margin). {result.runs} runs."
    )


def to_json(result: FitResult) -> dict[str, Any]:
    """Every fact of the table."""
    span = result.span
    return {
        "schema": SCHEMA,
        "command": list(result.words),
        "span": None
        if span is None
        else {"name": span.name, "least": span.least, "most": span.most, "step": span.step},
        "runs": result.runs,
        "rows": [
            {
                "card": {
                    "name": row.found.card.name,
                    "capacity_bytes": row.found.card.capacity_bytes + row.margin_bytes,
                    "total_bytes": row.found.card.total_bytes,
                },
                "choices": dict(row.choices),
                "margin_bytes": row.margin_bytes,
                "largest": row.found.fitting.value if row.found.fitting and span else None,
                "fits": _run(row.found.fitting),
                "fails": _run(row.found.failing),
            }
            for row in result.rows
        ],
    }


def _run(ran: Ran | None) -> dict[str, Any] | None:
    if ran is None:
        return None
    failure = ran.failure
    place = _place(failure) if failure else None
    return {
        "value": ran.value,
        "reserved_bytes_peak": ran.reserved_bytes_peak,
        "allocated_bytes_peak": ran.allocated_bytes_peak,
        "code": failure.verdict.code if failure else None,
        "requested_bytes": failure.facts.requested_bytes if failure else None,
        "at": None if place is None else {"file": place[0], "line": place[1], "function": place[2]},
    }
