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


def before_and_after(fix: Fix, terminal: Terminal, *, has_failed: bool = True) -> None:
    """What the best fix changes, and the line to copy."""
    terminal.line()
    grade = GRADE_WORDS[fix.grade]
    assumed = f", {format_bytes(fix.assumed_bytes)} of it assumed" if fix.assumed_bytes else ""
    outcome = outcome_in_words(fix, has_failed=has_failed)
    parts = f". {outcome[:1].upper()}{outcome[1:]}" if ": " in fix.change else f": {outcome}"
    head = "On this card" if fix.kind is Kind.NONE else f"Fix: {fix.change}"
    terminal.paragraph(f"{head}{parts} ({grade}{assumed}).", 0)
    if fix.conf is not None:
        terminal.line(terminal.paint(f"  export {line_to_copy(fix.conf)}", "bold"))
    if fix.call is not None:
        terminal.line(terminal.paint(f"  {fix.call}  # in the program, before it allocates", "bold"))
    before, after = fix.reserved_bytes_peak_before, fix.reserved_bytes_peak_after
    margin = "" if fix.margin_bytes is None else f", at least {format_bytes(fix.margin_bytes)} to spare"
    if fix.kind is Kind.NONE:
        terminal.paragraph(f"reserved at most: {format_bytes(after)}{margin}", 2)
        return
    terminal.paragraph(
        f"reserved at most: {format_bytes(before)} before, {format_bytes(after)} after{margin}; calls of the driver:"
        f" {fix.device_calls_before:,} before, {fix.device_calls_after:,} after",
        2,
    )


def fixes_to_text(fixes: Sequence[Fix], terminal: Terminal) -> None:
    """Every fix in a line, best first, with its risks below; a risk that several share is explained once."""
    if not fixes:
        return
    terminal.line()
    terminal.line(terminal.paint("Tried by replay, best first", "bold"))
    explained: set[str] = set()
    for fix in fixes:
        margin = "" if fix.margin_bytes is None else f"  {format_bytes(fix.margin_bytes)} to spare"
        head = f"  {fix.outcome.value:<14} {fix.grade.value:<8} {format_bytes(fix.reserved_bytes_peak_after):>11}"
        line = f"{head}{margin}  {fix.change}"
        if len(line) <= terminal.width:
            terminal.line(line)
        else:
            terminal.line(f"{head}{margin}")
            terminal.paragraph(fix.change, 6)
        for risk in fix.risks:
            terminal.paragraph(risk.name if risk.message in explained else f"{risk.name}: {risk.message}", 6)
            explained.add(risk.message)
