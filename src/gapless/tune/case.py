"""`Case`: what is tuned, gathered once: the recording, its critical moment, the card, and the run as it was.

The critical moment is the one that `explain` looks at: the failing request, or without one the peak. Everything here is
measured or recorded; what is assumed about it is for `grading` to say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.cards import Card
from gapless.explain.median import median_of
from gapless.replaying import Replay, ReplayOptions, replay
from gapless.tune.limits import fraction_leaving, limit_in_settings

if TYPE_CHECKING:
    from gapless.conf import Settings
    from gapless.explain import Growth
    from gapless.explain.case import Case as Explained
    from gapless.recording import Recording

_USUAL_STEPS = 3
"""Lengths of a usual step within which the last one must have begun for its loop to be still running."""


@dataclass(frozen=True)
class Limit:
    """A memory limit that was in force: one number where it is known, else where it must lie."""

    least_bytes: int
    most_bytes: int

    @property
    def slack_bytes(self) -> int:
        """How much is not known of it."""
        return self.most_bytes - self.least_bytes

    def of_another(self, total_bytes: int, recorded_total_bytes: int) -> Limit:
        """The same share of another card."""
        if total_bytes == recorded_total_bytes:
            return self
        least, most = (size * total_bytes // recorded_total_bytes for size in (self.least_bytes, self.most_bytes))
        return Limit(least, most)


@dataclass(frozen=True, eq=False)
class Case:
    """One recording, the moment to get over, and the card it shall run on."""

    explained: Explained
    card: Card
    card_is_recorded: bool
    """The card is what the recording itself shows, not one that the user named."""
    leave_free_bytes: int = 0
    """Of the card, for others than PyTorch."""

    @property
    def recording(self) -> Recording:
        """What is tuned."""
        return self.explained.recording

    @property
    def event(self) -> int:
        """The critical moment is just before this event, or is this failing request."""
        return self.explained.moment.event

    @property
    def failed(self) -> bool:
        """At the critical moment a request failed when it was recorded."""
        return self.explained.refusal is not None

    @cached_property
    def request_bytes(self) -> int:
        """The critical request, rounded; without a failure the last one that was served before the moment."""
        if self.explained.refusal is not None:
            return self.explained.refusal.request.rounded_bytes
        allocations = self.recording.trace.allocations
        last = int(np.searchsorted(allocations.alloc_event, self.event)) - 1
        return int(allocations.size[last]) if last >= 0 else 0

    @cached_property
    def limit(self) -> Limit | None:
        """Of a memory fraction that was in force when it was recorded."""
        refusal, known = self.explained.refusal, self.explained.facts.limit_bytes
        if refusal is not None and refusal.by_limit:
            return Limit(refusal.limit_bytes_least, refusal.limit_bytes_most)
        return None if known is None else Limit(known, known)

    @cached_property
    def shrunk_bytes(self) -> int:
        """How much less could be had when the critical request failed than was reserved before: others took it, or the
        memory limit was lowered. The replay has the less from the start, and so may fail where the run did not."""
        if not (self.failed and self.card_is_recorded):
            return 0
        had = int(self.recording.curves["reserved"][: self.event + 1].max())
        return max(0, had - min(self.card.capacity_bytes, self.limit.most_bytes if self.limit else had))

    def fraction_on(self, card: Card, settings: Settings) -> float | None:
        """The memory fraction that leaves others what they need; None where nothing has to stay free."""
        return fraction_leaving(card, self.leave_free_bytes, settings) if self.leave_free_bytes else None

    # ---- the run as it was

    def options(self, card: Card | None = None) -> ReplayOptions:
        """The run as it was, on a card (the case's own, when not said)."""
        on = card or self.card
        limit = self._limit_on(on)
        return ReplayOptions(
            capacity_bytes=on.capacity_bytes,
            total_bytes=on.total_bytes,
            limit_bytes=limit.least_bytes if limit else None,
            limit_bytes_most=limit.most_bytes if limit else None,
            # A program that caught failures went on after them; one that did not ends there.
            stops_at_failure=len(self.recording.oom_events) <= 1,
        )

    def _limit_on(self, card: Card) -> Limit | None:
        """A memory fraction is of the card: on another one the limit is another."""
        if not self.card_is_recorded:
            limit = limit_in_settings(self.recording.settings, card.total_bytes, self.recording.release)
            if limit is not None:
                return Limit(limit, limit)
        return self.limit and self.limit.of_another(card.total_bytes, self.recorded_card.total_bytes)

    @cached_property
    def before(self) -> Replay:
        """The run as it was, on the card; a late start with every block where it was recorded, if the card holds it."""
        held = int(self.recording.curves["reserved"].max(initial=0)) <= self.card.capacity_bytes
        return replay(self.recording, replace(self.options(), start_as_recorded=self.start_bytes > 0 and held))

    @cached_property
    def before_anew(self) -> Replay:
        """The run as it was, on the card, with memory from before a late start allocated anew as for every change: what
        calls and retries are compared with."""
        return replay(self.recording, self.options()) if self.start_bytes else self.before

    @cached_property
    def recorded_card(self) -> Card:
        """The card that the recording shows."""
        return self.card if self.card_is_recorded else recorded_card(self.explained)

    @property
    def knows_card(self) -> bool:
        """Whether the card's size is known: said, recorded, or shown by a failure."""
        return not self.card_is_recorded or self.failed or bool(self.recording.total_bytes)

    @cached_property
    def control(self) -> Replay:
        """The run as it was, on the card of the recording, replayed as candidates are."""
        return replay(self.recording, self.options(self.recorded_card))

    @cached_property
    def repeats_itself(self) -> bool:
        """Replayed as candidates are, on the card of the recording, the critical request fails if it did, and nothing
        else does. Not so where the memory from before a late start was what kept the request from being served."""
        recorded = set(self.recording.oom_events.tolist())
        failed = [{failure.event for failure in result.failures} for result in self.control.results]
        return all(events <= recorded and (not self.failed or self.event in events) for events in failed)

    @property
    def lower_bound_bytes(self) -> int:
        """Peak of live requested bytes, the critical request among them: no setting needs less."""
        return self.explained.lower_bound_bytes

    # ---- what is not known

    @cached_property
    def start_bytes(self) -> int:
        """Reserved before the first event: in which order it was asked for, and what was freed in between, is lost."""
        return int(self.recording.trace.start.segments["size"].sum())

    @cached_property
    def demand_beyond_bytes(self) -> int:
        """Live bytes with the critical request, above the most that the recording had shown before it failed."""
        if not self.failed:
            return 0
        allocated = self.recording.curves["allocated"][: self.event + 1]
        return max(0, int(allocated[-1]) + self.request_bytes - int(allocated.max()))

    @cached_property
    def growth(self) -> tuple[Growth, ...]:
        """What grows with every step up to the critical moment; a loop that ended long before it is over."""
        steps = self.explained.steps
        if steps is None or not self.explained.growth:
            return ()
        until = steps.boundaries[steps.boundaries <= self.event]
        if not len(until):  # before the first step
            return ()
        usual = median_of(np.diff(until)) if len(until) > 1 else 0.0
        return self.explained.growth if self.event - int(until[-1]) <= _USUAL_STEPS * usual else ()

    @property
    def growth_bytes_per_step(self) -> int:
        """What the live memory grows by with every step."""
        return sum(one.bytes_per_step for one in self.growth)

    @property
    def is_full(self) -> bool:
        """The memory is in use, and more is asked for than ever before: settings can do no more than put it off.

        Not so where it is in use for rounding's sake.
        """
        refusal = None if self.explained.rounding.decides else self.explained.refusal
        full = refusal is not None and not refusal.by_limit and refusal.is_full and self.demand_beyond_bytes > 0
        return full or bool(self.growth)

    @property
    def step_count(self) -> int | None:
        """Whole training steps in the recording; None where they cannot be told apart."""
        steps = self.explained.steps
        return steps.count if steps is not None and steps.is_training and steps.count > 0 else None

    @property
    def whole_steps_after(self) -> int:
        """Whole training steps that the recording holds after the critical moment."""
        steps = self.explained.steps
        return steps.whole_steps_after(self.event) if steps is not None and steps.is_training else 0

    @cached_property
    def request_comes_again(self) -> bool:
        """After it failed, a request of the same place and at least that size was served in the recording."""
        stack = int(self.recording.events.stack[self.event])
        allocations = self.recording.trace.allocations
        later = (allocations.alloc_event > self.event) & (allocations.size >= self.request_bytes)
        return stack != _core.NO_STACK and bool(np.any(later & (allocations.stack == stack)))


def recorded_card(explained: Explained) -> Card:
    """What PyTorch could reserve when the critical request failed, else the most that it did reserve.

    That it had more earlier is no help: others took it, and will have it again.
    """
    recording, refusal = explained.recording, explained.refusal
    most = capacity = int(recording.curves["reserved"].max())
    if refusal is not None:
        capacity = refusal.reserved_bytes + refusal.request.device_free_bytes
    return Card("as recorded", capacity, max(recording.total_bytes or 0, capacity, most))
