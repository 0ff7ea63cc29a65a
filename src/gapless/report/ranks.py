"""Ranks of a job as text: one table of all, then the answer about those that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.explain.words import plural
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.rank import Rank
    from gapless.explain.ranks import Outlier, Ranks
    from gapless.report.terminal import Terminal

_HEAD = ("rank", "verdict", "asked", "allocated", "reserved", "free", "most allocated", "failed")
_UNKNOWN = "-"
_NAMED = 3


def to_text(ranks: Ranks, terminal: Terminal) -> None:
    """Writes the table, and what stands out in it."""
    first, outlier = ranks.first_failure, ranks.outlier
    begun = first.failed_us if first else None
    rows = [_HEAD, *((terminal.edited(rank.name), *_cells(rank, begun)) for rank in ranks.all)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        terminal.clipped("  ".join(cells).rstrip())
    terminal.line()
    if first is None:
        terminal.line("No rank failed.")
    else:
        terminal.paragraph(_first(ranks, first), 0)
    if outlier is not None:
        terminal.paragraph(_unlike(outlier), 0)


def _first(ranks: Ranks, first: Rank) -> str:
    failed = [rank for rank in ranks.all if rank.has_failed]
    if len(failed) == 1:
        return f"The only failure: {first.name}."
    timeless = [rank.name for rank in failed if rank.failed_us is None]
    if first.failed_us is None:
        return f"{plural(len(failed), 'rank')} failed; logs do not tell which was the first. Shown: {first.name}."
    unsure = f" When {_listed(timeless)} failed is not recorded." if timeless else ""
    return f"First failure: {first.name}. What other ranks report after it may be its consequence.{unsure}"


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _unlike(outlier: Outlier) -> str:
    peak = outlier.rank.needed_bytes_peak or 0
    others = f"the median of the {len(outlier.like)} ranks that do the same is {format_bytes(outlier.median_bytes)}"
    return f"Unlike the others: {outlier.rank.name} needed {format_bytes(peak)} at most; {others}."


def _cells(rank: Rank, begun: int | None) -> tuple[str, ...]:
    failed = _UNKNOWN
    if rank.has_failed:
        failed = "?"
        if rank.failed_us is not None and begun is not None:
            failed = "first" if rank.failed_us == begun else f"+{(rank.failed_us - begun) / 1e6:.3f} s"
    sizes = (
        rank.requested_bytes,
        rank.allocated_bytes,
        rank.reserved_bytes,
        rank.free_bytes,
        rank.allocated_bytes_peak,
    )
    return (rank.explanation.verdict.code, *map(_size, sizes), failed)


def _size(size: int | None) -> str:
    return _UNKNOWN if size is None else format_bytes(size)
