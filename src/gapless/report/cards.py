"""The table of known cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gapless.cards import KNOWN_CARDS, find_card
from gapless.units import format_bytes
from gapless.virtual.cards import VirtualCard, source_of, virtual_card

if TYPE_CHECKING:
    from gapless.report.terminal import Terminal

_HEAD = ("name", "the driver reports", "for PyTorch", "capability", "multiprocessors", "threads", "shared", "L2")


def cards_to_text(terminal: Terminal) -> None:
    """Writes the table: one line a card."""
    rows = [_HEAD, *(_row(known.name) for known in KNOWN_CARDS)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        terminal.line("  ".join(cells).rstrip())
    terminal.line()
    terminal.paragraph(
        "for PyTorch: less what the CUDA context takes. threads and shared memory: of a multiprocessor. Or give a size,"
        " like --card 24GiB: then all of it is for PyTorch. --format json names the source of each figure.",
        0,
    )


def _row(name: str) -> tuple[str, ...]:
    card, virtual = find_card(name), virtual_card(find_card(name))
    return (
        name,
        format_bytes(card.total_bytes),
        format_bytes(card.capacity_bytes),
        f"{virtual.capability // 10}.{virtual.capability % 10}",
        str(virtual.multiprocessors),
        str(virtual.threads_per_multiprocessor),
        format_bytes(virtual.shared_per_multiprocessor_bytes),
        format_bytes(virtual.l2_bytes),
    )


def cards_to_json() -> dict[str, Any]:
    """The table for machines; sizes are bytes."""
    return {"schema": "gapless.cards/1", "cards": [_json(known.name, known.source) for known in KNOWN_CARDS]}


def _json(name: str, source: str) -> dict[str, Any]:
    card = find_card(name)
    virtual: VirtualCard = virtual_card(card)
    return {
        "name": name,
        "title": virtual.name,
        "driver_total_bytes": card.total_bytes,
        "context_bytes": virtual.context_bytes,
        "capacity_bytes": card.capacity_bytes,
        "capability": virtual.capability,
        "code": virtual.code,
        "multiprocessors": virtual.multiprocessors,
        "threads_per_multiprocessor": virtual.threads_per_multiprocessor,
        "registers_per_multiprocessor": virtual.registers_per_multiprocessor,
        "shared_per_multiprocessor_bytes": virtual.shared_per_multiprocessor_bytes,
        "l2_bytes": virtual.l2_bytes,
        "sources": {"memory": source, "processor": source_of(card)},
    }
