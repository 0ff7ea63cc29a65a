"""The run on another card than its own, which the reader asks about: replay decides where it fails there, and how.

Where it does, that is what an explanation is about: the failing request, the memory then, and who holds it are those of
the replay. Where it does not, or where that cannot be told, the explanation is about the recorded run, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gapless.explain.moment import Facts, Moment, facts_at
from gapless.explain.refusal import Refusal, refusal_at
from gapless.explain.request import Request
from gapless.recording.recording import State
from gapless.replaying import ReplayOptions, replay
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless._core import Failure
    from gapless.explain.options import ExplainOptions
    from gapless.recording import Recording


@dataclass(frozen=True, eq=False)
class OnCard:
    """The first request that fails there."""

    recorded: Moment
    """The moment of the recorded run that would be explained without the card."""
    card_bytes: int
    """What PyTorch may reserve there, beside what has to stay free."""
    moment: Moment
    request: Request
    state: State
    facts: Facts

    @property
    def refusal(self) -> Refusal:
        """The failing request in numbers."""
        most = self.facts.capacity_bytes or 0
        facts, request = self.facts, self.request
        return Refusal(request, request.refused_by_limit, most, most, facts.active_bytes, facts.reserved_bytes)

    @property
    def in_words(self) -> str:
        """What the replay did, as the beginning of a sentence."""
        there = f"With {format_bytes(self.card_bytes)} for PyTorch the replay runs out of memory"
        event = self.moment.event
        if not self.recorded.is_failure:
            return f"Nothing failed in the recorded run. {there} at event {event:,}"
        was = self.recorded.event
        return (
            f"{there} at event {event:,}, as recorded" if event == was else f"{there} at event {event:,}, not {was:,}"
        )


def on_card(recording: Recording, recorded: Moment, facts: Facts, options: ExplainOptions) -> OnCard | None:
    """What fails there; None where no card is asked about, it is the recorded one, it fits, or that cannot be told."""
    if options.card_bytes is None or options.at is not None or options.outside_failure or not recording.event_count:
        return None
    card_bytes = options.card_bytes - (options.leave_free_bytes if recorded.is_failure else 0)
    if not recorded.is_failure and (options.leave_free_bytes or _most_reserved(recording) <= card_bytes):
        return None  # it did fit, as it was recorded; what others need is for other rules
    if recorded.is_failure and not _is_replayed(recording, recorded, facts, card_bytes):
        return None
    asked = ReplayOptions(
        capacity_bytes=max(card_bytes, 0), limit_bytes=recording.limit_bytes, keeps_state_at_failure=True
    )
    result = replay(recording, asked).result
    if not result.failures or result.state is None:
        return None
    failure = result.failures[0]
    request = _request(recording, failure)
    at = recorded.at if failure.event == recorded.event else f"event:{failure.event}"
    moment = Moment(at, failure.event, True)
    state = State(failure.event, result.state.segments, result.state.blocks, result.allocation_of_block)
    found = facts_at(recording, moment, state, replace(options, recorded_card_bytes=card_bytes), request)
    if not len(state.segments):  # unlike that of a file, this state is whole
        found = replace(found, allocated_bytes=0, active_bytes=0, reserved_bytes=0)
    return OnCard(recorded, card_bytes, moment, request, state, found)


def _is_replayed(recording: Recording, recorded: Moment, facts: Facts, card_bytes: int) -> bool:
    """Whether a replay tells where a run fails that failed when it was recorded, on another card than its own.

    Not where a memory limit refused, which would be another one there; nor of a program that went on after a failure.
    """
    refusal = refusal_at(recording, recorded.event, facts)
    if refusal is None or refusal.by_limit or len(recording.oom_events) != 1:
        return False
    return card_bytes != refusal.limit_bytes_least


def _request(recording: Recording, failure: Failure) -> Request:
    return Request(
        event=failure.event,
        rounded_bytes=failure.rounded_bytes,
        segment_bytes=failure.segment_bytes,
        device_free_bytes=failure.device_free_bytes,
        pool=int(recording.trace.pool_of_event[failure.event]),
        stream=int(recording.events.stream[failure.event]),
        stack=int(recording.events.stack[failure.event]),
    )


def _most_reserved(recording: Recording) -> int:
    return int(recording.curves["reserved"].max(initial=0))
