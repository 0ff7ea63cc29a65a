"""The other devices of a file: whether the change that is best for one of them suits the rest, by replay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gapless.explain.case import open_case
from gapless.explain.options import ExplainOptions
from gapless.tune.case import recorded_card
from gapless.tune.engine import TuneOptions, TuneResult, case_of
from gapless.tune.search import try_all

if TYPE_CHECKING:
    from gapless.recording import Recording
    from gapless.tune.fix import Outcome


@dataclass(frozen=True)
class OtherDevice:
    """A device of the same file."""

    device: int
    failed: bool
    """A request failed on it when it was recorded."""
    outcome: Outcome | None
    """Under the change that is best for the device in question; None: not replayed, as nothing helps there, the change
    is one of that device's program or card, or this one has no events."""
    reserved_bytes_peak: int | None
    """With that change; None where it was not replayed."""

    def to_json(self) -> dict[str, Any]:
        """Its entry in gapless.tune/1."""
        return {
            "device": self.device,
            "failed": self.failed,
            "outcome": self.outcome.value if self.outcome else None,
            "reserved_bytes_peak_after": self.reserved_bytes_peak,
        }


def worst_first(recordings: Sequence[Recording]) -> list[Recording]:
    """Those with a failure first, then those with the most memory reserved, as `explain` shows them."""
    return sorted(recordings, key=lambda one: (not len(one.oom_events), -int(one.curves["reserved"].max())))


def other_devices(result: TuneResult, recordings: Sequence[Recording], options: TuneOptions) -> list[OtherDevice]:
    """Each device beside the one that was tuned, under the change that is best for that one.

    On the card that the user named; else on the largest that one of the two shows, for devices of a machine are alike.

    Args:
        result: Of the one that was tuned.
        recordings: All devices of the file.
        options: What the user wants to know.
    """
    return [_other(result, one, options) for one in recordings if one is not result.case.recording]


def _other(result: TuneResult, recording: Recording, options: TuneOptions) -> OtherDevice:
    failed, best = len(recording.oom_events) > 0, result.best
    if best is None or best.candidate.card or best.candidate.edited_bytes or recording.event_count == 0:
        return OtherDevice(recording.device, failed, None, None)
    explained = open_case(recording, ExplainOptions())
    card = options.card or max(result.case.card, recorded_card(explained), key=lambda one: one.capacity_bytes)
    (one,) = try_all(case_of(explained, replace(options, card=card, at=None)), [best.candidate])
    return OtherDevice(recording.device, failed, one.outcome, one.fix.reserved_bytes_peak_after)
