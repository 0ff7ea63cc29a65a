"""Where a recorded run that did not fail would fail on the card that the reader asks about: replay decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gapless.explain.frames import short_place
from gapless.explain.refusal import FULL_SHARE
from gapless.replaying import ReplayOptions, replay
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless._core import Failure
    from gapless.explain.case import Case


@dataclass(frozen=True)
class FailureOnCard:
    """The first request that fails there."""

    case: Case
    card_bytes: int
    failure: Failure

    @property
    def is_full(self) -> bool:
        """Whether what is in use is why; else free memory lies in pieces."""
        active = self.failure.active_bytes
        return active + self.failure.rounded_bytes > self.card_bytes or active > FULL_SHARE * self.card_bytes

    def finding(self, why: str) -> dict[str, Any]:
        """What a rule says of it, as arguments of a finding."""
        case, failed = self.case, self.failure
        stack = int(case.recording.events.stack[failed.event])
        place, frames = case.stacks.place(stack), case.stacks.stack(stack)
        at = f" at {short_place(place)}" if place else ""
        curves, check = case.recording.curves, case.recording.check
        active, reserved = (format_bytes(int(curves[name].max())) for name in ("active", "reserved"))
        return {
            "message": f"Nothing failed in the recorded run. With {format_bytes(self.card_bytes)} for PyTorch the"
            f" replay runs out of memory at event {failed.event:,}: {format_bytes(failed.rounded_bytes)}{at} {why}.",
            "why": f"{format_bytes(failed.active_bytes)} are in use and {format_bytes(failed.reserved_bytes)} reserved"
            f" there. The recorded run had up to {active} in use and {reserved} reserved.",
            "what_to_do": "Ask gapless tune with the same --card which change makes it fit, and which card is enough.",
            "bytes": failed.rounded_bytes,
            "confidence": "certain" if check is not None and check.exact else "likely",
            "measurements": {
                "card_bytes": self.card_bytes,
                "event": failed.event,
                "rounded_bytes": failed.rounded_bytes,
                "active_bytes": failed.active_bytes,
                "reserved_bytes": failed.reserved_bytes,
                "largest_free_block_bytes": failed.largest_free_block_bytes,
            },
            "places": (frames,) if frames else (),
        }


def failure_on_card(case: Case) -> FailureOnCard | None:
    """The failure; None where no card is asked about, the recorded run failed itself, or it fits."""
    recording, card_bytes = case.recording, case.options.card_bytes
    if card_bytes is None or len(recording.oom_events) or case.options.outside_failure or case.beside is not None:
        return None
    if int(recording.curves["reserved"].max()) <= card_bytes:
        return None  # it did fit, as it was recorded
    replayed = replay(recording, ReplayOptions(capacity_bytes=card_bytes, limit_bytes=recording.limit_bytes))
    return FailureOnCard(case, card_bytes, replayed.failures[0]) if replayed.failures else None
