"""What pins segments, as text: of each place how many blocks, in how many segments, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.explain.words import plural
from gapless.report.frames import place
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.pins import Pinned, PinningPlace
    from gapless.report.terminal import Terminal

_MOST = 5


def pins_to_text(pinned: Pinned, terminal: Terminal) -> None:
    """A line for each of the places with most blocks."""
    if not pinned.by_place:
        return
    terminal.line()
    terminal.line(terminal.paint("What pins the segments", "bold"))
    rows = [(*numbers_of(one), place(terminal.frame(one.at))) for one in pinned.by_place[:_MOST]]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    heads = [f"  {row[0]:>{widths[0]}} in {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}" for row in rows]
    fit = all(len(f"{head}  {row[-1]}") <= terminal.width for head, row in zip(heads, rows, strict=True))
    for head, row in zip(heads, rows, strict=True):
        terminal.clipped(f"{head}  {row[-1]}" if fit else head.rstrip())
        if not fit:
            terminal.clipped(f"{'':{widths[0] + 3}}{row[-1]}")
    more = len(pinned.by_place) - _MOST
    if more > 0:
        terminal.line(f"  blocks at {plural(more, 'more place')}")


def numbers_of(one: PinningPlace) -> tuple[str, str, str]:
    """How many blocks of a place pin, in which segments, since when."""
    blocks, segments = plural(one.blocks, "block"), plural(one.segments, "segment")
    since = "from before the recording" if one.since_event is None else f"since event {one.since_event}"
    if one.steps:
        since += f" ({plural(one.steps, 'step')})"
    return blocks, f"{segments}, {format_bytes(one.free_bytes)} free", since
