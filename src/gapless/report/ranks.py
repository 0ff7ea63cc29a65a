"""Ranks of a job as text: one table of all, then the answer about those that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.ranks import Rank, Ranks
    from gapless.report.terminal import Terminal

_HEAD = ("rank", "verdict", "asked", "in use", "reserved", "free", "failed")


def to_text(ranks: Ranks, terminal: Terminal) -> None:
    """Writes the table, and what stands out in it."""
    first, outlier = ranks.first_failure, ranks.outlier
    begun = first.failed_us if first else None
    rows = [_HEAD, *(_cells(rank, begun) for rank in ranks.all)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        terminal.clipped("  ".join(cells).rstrip())
    terminal.line()
    if first is not None:
        terminal.paragraph(f"First failure: {first.name}. What other ranks report after it may be its consequence.", 0)
    else:
        terminal.line("No rank failed.")
    if outlier is not None:
        terminal.paragraph(f"Unlike the others: {outlier.name}, by its memory in use.", 0)


def _cells(rank: Rank, begun: int | None) -> tuple[str, ...]:
    facts = rank.explanation.facts
    failed = "-"
    if rank.failed_us is not None and begun is not None:
        failed = "first" if rank.failed_us == begun else f"+{(rank.failed_us - begun) / 1e6:.3f} s"
    asked = "-" if facts.requested_bytes is None else format_bytes(facts.requested_bytes)
    sizes = (facts.allocated_bytes, facts.reserved_bytes, facts.free_bytes)
    return (rank.name, rank.explanation.verdict.code, asked, *map(format_bytes, sizes), failed)
