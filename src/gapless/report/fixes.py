"""Fixes as text: before and after of the best, the line to copy, and the table of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gapless.conf import line_to_copy
from gapless.tune.advice import GRADE_WORDS, outcome_in_words
from gapless.tune.fix import Kind
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.report.terminal import Terminal
    from gapless.tune import Fix


_HEADING = "Tried by replay, the one to take first"


def before_and_after(fix: Fix, terminal: Terminal, *, has_failed: bool = True) -> None:
    """What the best fix changes, and the line to copy."""
    terminal.line()
    grade = GRADE_WORDS[fix.grade]
    assumed = f", by assumptions about {format_bytes(fix.assumed_bytes)}" if fix.assumed_bytes else ""
    outcome = outcome_in_words(fix, has_failed=has_failed)
    parts = f". {outcome[:1].upper()}{outcome[1:]}" if ": " in fix.change else f": {outcome}"
    head = "On this card" if fix.kind is Kind.NONE else f"{_title(fix)}: {fix.change}"
    terminal.paragraph(f"{head}{parts} ({grade}{assumed}).", 0)
    if fix.conf is not None:
        terminal.line(terminal.paint(f"  export {line_to_copy(fix.conf)}", "bold"))
    if fix.call is not None:
        terminal.line(terminal.paint(f"  {fix.call}  # in the program, before it allocates", "bold"))
    before, after = fix.reserved_bytes_peak_before, fix.reserved_bytes_peak_after
    until = " up to this request" if fix.is_open_ended else ""
    if fix.kind is Kind.NONE:
        terminal.paragraph(f"reserved at most{until}: {format_bytes(after)}{_smallest(fix)}", 2)
        return
    terminal.paragraph(
        f"reserved at most{until}: {format_bytes(before)} before, {format_bytes(after)} after{_smallest(fix)}; calls of"
        f" the driver: {fix.device_calls_before:,} before, {fix.device_calls_after:,} after",
        2,
    )


def _title(fix: Fix) -> str:
    """No change is a fix yet where only the next request is known to be served."""
    return "May help" if fix.is_open_ended else "Fix"


def _smallest(fix: Fix) -> str:
    """The smallest card on which it has its outcome."""
    size = fix.smallest_card_bytes
    if size is None or fix.kind is Kind.CARD or (fix.kind is Kind.CODE and fix.is_open_ended):
        return ""
    does = "serves this request" if fix.is_open_ended else "fits"
    return f"; {does} on cards from {format_bytes(size)}"


def fixes_to_text(fixes: Sequence[Fix], terminal: Terminal, *, has_failed: bool = True) -> None:
    """Every fix in a line, the one to take first, its risks below; a risk that several share is explained once."""
    if not fixes:
        return
    terminal.line()
    terminal.line(terminal.paint(_HEADING if len(fixes) > 1 else "Tried by replay", "bold"))
    outcomes = [fix.outcome.in_words(has_failed=has_failed) for fix in fixes]
    width, explained = max(map(len, outcomes)), set[str]()
    for fix, outcome in zip(fixes, outcomes, strict=True):
        head = f"  {outcome:<{width}}  {fix.grade.value:<8}{_smallest(fix)[1:]}".rstrip()
        line = f"{head}  {fix.change}"
        if len(line) <= terminal.width:
            terminal.line(line)
        else:
            terminal.line(head)
            terminal.paragraph(fix.change, 6)
        for risk in fix.risks:
            terminal.paragraph(risk.name if risk.message in explained else f"{risk.name}: {risk.message}", 6)
            explained.add(risk.message)
