"""The most that PyTorch is known to could have had on the card, by what the reader says or the recording shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.explain.others_on_card import recorded_card_bytes_of
from gapless.explain.request import request_of

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.refusal import Refusal


@dataclass(frozen=True)
class CouldHave:
    """An amount, and how it is known."""

    bytes: int
    is_recorded: bool
    """PyTorch had it, or a failure showed that it was there, earlier in the recording; else the reader says so."""


def could_have(case: Case, refusal: Refusal) -> CouldHave:
    """The card as the reader tells it, else the most that was reserved, or reserved and free, up to the failure."""
    if case.on_card is not None:  # nobody else is there
        return CouldHave(refusal.limit_bytes_most, False)
    told = recorded_card_bytes_of(case.options)
    earlier = had_earlier_bytes(case, refusal)
    return CouldHave(earlier, True) if told is None else CouldHave(told, False)


def had_earlier_bytes(case: Case, refusal: Refusal) -> int:
    """The most that was reserved up to the failure, or that an earlier refusal by the card showed to be there."""
    if case.on_card is not None:
        return refusal.limit_bytes_most
    recording, until = case.recording, refusal.request.event
    reserved = recording.curves["reserved"][: until + 1]
    best = int(reserved.max())
    for event in recording.oom_events[recording.oom_events < until].tolist():
        request = request_of(recording, event)
        if request is not None and not request.refused_by_limit:
            best = max(best, int(reserved[event]) + request.device_free_bytes)
    return best
