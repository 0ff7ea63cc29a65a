"""`Case`: what is tuned, gathered once: the recording, its critical moment, the card, and the run as it was.

Everything here is measured or recorded; what is assumed about it is for `grading` to say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gapless.cards import Card
from gapless.recording.recording import FREE
from gapless.replaying import UNLIMITED_BYTES, Replay, ReplayOptions, replay
from gapless.tune.critical import Critical, segment_bytes
from gapless.tune.limits import limit_of_fraction

if TYPE_CHECKING:
    from gapless.recording import Recording


@dataclass(frozen=True)
class Limit:
    """A memory limit that was in force: one number where it is known, else where it must lie."""

    least_bytes: int
    most_bytes: int

    @property
    def slack_bytes(self) -> int:
        """How much is not known of it."""
        return self.most_bytes - self.least_bytes


@dataclass(frozen=True, eq=False)
class Case:
    """One recording, the moment to get over, and the card it shall run on."""

    recording: Recording
    critical: Critical
    card: Card
    card_is_recorded: bool
    """The card is what the recording itself shows, not one that the user named."""
    limit: Limit | None
    """Of a memory fraction that was in force when it was recorded."""
    boundaries: tuple[int, ...] | None
    """Events at which training steps begin, and the end of the last; None where steps are not known."""
    leave_free_bytes: int = 0
    """Of the card, for others than PyTorch."""

    def options(self, card: Card | None = None) -> ReplayOptions:
        """The run as it was, on a card (the case's own, when not said)."""
        on = card or self.card
        several = len(self.recording.oom_events) > 1
        return ReplayOptions(
            capacity_bytes=on.capacity_bytes,
            total_bytes=on.total_bytes,
            limit_bytes=self._limit_on(on),
            stops_at_failure=not several,
        )

    def _limit_on(self, card: Card) -> int | None:
        """A memory fraction is of the card: on another one the limit is another."""
        if self.limit is None or card.total_bytes == self.recorded_card.total_bytes:
            return self.limit.least_bytes if self.limit else None
        return self.limit.least_bytes * card.total_bytes // self.recorded_card.total_bytes

    @cached_property
    def before(self) -> Replay:
        """The run as it was, on the card."""
        return replay(self.recording, self.options())

    @cached_property
    def recorded_card(self) -> Card:
        """The card that the recording shows."""
        return self.card if self.card_is_recorded else recorded_card(self.recording, self.critical)

    @cached_property
    def repeats_itself(self) -> bool:
        """Replayed on the card of the recording, the critical request fails exactly if it did."""
        if not self.critical.failed:
            return True
        control = self.before if self.card_is_recorded else replay(self.recording, self.options(self.recorded_card))
        return all(self.critical.event in (f.event for f in result.failures) for result in control.results)

    @cached_property
    def lower_bound_bytes(self) -> int:
        """Peak of live requested bytes: no allocator and no setting needs less."""
        endless = replace(self.options(), capacity_bytes=UNLIMITED_BYTES, total_bytes=UNLIMITED_BYTES, limit_bytes=None)
        return int(replay(self.recording, endless).result.requested_bytes_peak)

    @cached_property
    def start_bytes(self) -> int:
        """In use before the first event: of it neither the order nor the size of its segments' making is known."""
        blocks = self.recording.trace.start.blocks
        return int(blocks["size"][blocks["state"] != FREE].sum())

    @cached_property
    def demand_beyond_bytes(self) -> int:
        """Live bytes with the critical request, above the most that the recording had shown before."""
        allocated = self.recording.curves["allocated"][: self.critical.event + 1]
        return max(0, int(allocated[-1]) + self.critical.request_bytes - int(allocated.max()))

    @property
    def step_count(self) -> int | None:
        """Whole training steps in the recording."""
        return None if self.boundaries is None or len(self.boundaries) < 2 else len(self.boundaries) - 1

    @cached_property
    def whole_steps_after(self) -> int:
        """Whole training steps that the recording holds after the critical moment."""
        later = [event for event in self.boundaries or () if event > self.critical.event]
        return max(0, len(later) - 1)

    @cached_property
    def request_comes_again(self) -> bool:
        """After it failed, a request of the same place and at least that size was served in the recording."""
        events, allocations = self.recording.events, self.recording.trace.allocations
        place = int(events.stack[self.critical.event])
        later = allocations.alloc_event > self.critical.event
        return bool(np.any(later & (allocations.stack == place) & (allocations.size >= self.critical.request_bytes)))


def recorded_card(recording: Recording, critical: Critical) -> Card:
    """What PyTorch could reserve when the critical request failed, else the most that it did reserve."""
    reserved = recording.curves["reserved"]
    capacity = int(reserved.max())
    if critical.failed:
        free = int(recording.events.address[critical.event])
        capacity = max(int(reserved[critical.event]) + free, capacity)
    return Card("as recorded", capacity, recording.total_bytes or capacity)


def recorded_limit(recording: Recording, critical: Critical, card: Card) -> Limit | None:
    """The limit of a memory fraction that was in force: told, set, or betrayed by a refusal with room on the card."""
    if recording.limit_bytes is not None:
        return Limit(recording.limit_bytes, recording.limit_bytes)
    fraction = recording.settings.per_process_memory_fraction
    if fraction != 1.0 and recording.total_bytes:
        limit = limit_of_fraction(fraction, recording.total_bytes, recording.release)
        return None if limit is None else Limit(limit, limit)
    if not critical.failed:
        return None
    segment = segment_bytes(critical.request_bytes, recording.settings)
    if int(recording.events.address[critical.event]) < segment:
        return None
    reserved = recording.curves["reserved"][: critical.event + 1]
    least = int(reserved.max())
    return Limit(least, max(int(reserved[-1]) + segment - 1, least))
