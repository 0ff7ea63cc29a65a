"""Answers about several devices of one file, put together, with a word on those that were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.recording.choosing import Rest
    from gapless.report.terminal import Terminal


def devices_to_json(schema: str, values: Sequence[dict[str, Any]], rest: Rest) -> dict[str, Any]:
    """The answer about the only device, or a list of answers under a schema of its own."""
    if len(values) == 1:
        return values[0]
    left_out = {"left_out": {"devices": rest.devices, "failed": rest.failed}} if rest.devices else {}
    return {"schema": schema, "devices": list(values), **left_out}


def rest_to_text(rest: Rest, terminal: Terminal) -> None:
    """A last line where devices were left out."""
    if rest.devices:
        terminal.line()
        terminal.line(str(rest))
