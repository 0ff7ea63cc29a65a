"""What `gapless tune` says of the other devices of a file: one line for all of which the same holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gapless.recording.choosing import named_devices
from gapless.tune import Kind, Outcome
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.report.terminal import Terminal
    from gapless.tune import TuneResult
    from gapless.tune.other_devices import OtherDevice

_SUITS = {Outcome.SURVIVES, Outcome.SERVES_REQUEST}


def others_to_text(result: TuneResult, others: Sequence[OtherDevice], terminal: Terminal) -> None:
    """Whether the best change of one device suits the others."""
    is_change = result.best is None or result.best.fix.kind is not Kind.NONE
    groups: dict[str, list[OtherDevice]] = {}
    for other in others:
        was = "failed as well" if other.failed else "nothing failed"
        groups.setdefault(f"({was}): {_in_words(other.outcome, is_change=is_change)}", []).append(other)
    for words, some in groups.items():
        noun = "Device" if len(some) == 1 else "Devices"
        peaks = [other.reserved_bytes_peak for other in some if other.reserved_bytes_peak is not None]
        suits = some[0].outcome in _SUITS
        peak = f", with {format_bytes(max(peaks))} reserved at most" if suits and peaks else ""
        ask = "" if suits else f"; see gapless tune --device {some[0].device}"
        terminal.paragraph(f"{noun} {named_devices([other.device for other in some])} {words}{peak}{ask}.", 0)


def _in_words(outcome: Outcome | None, *, is_change: bool) -> str:
    if outcome is None:
        return "not tried with this"
    if outcome in _SUITS:
        return "the same change works there too" if is_change else "no change is needed there either"
    if outcome is Outcome.FAILS:
        return "the same change does not work there" if is_change else "a change is needed there"
    return f"whether {'the same change works' if is_change else 'a change is needed'} there is not known"
