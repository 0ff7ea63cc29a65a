"""A case: one device at one moment, with everything that rules ask of it, each computed once and only when asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.fragments import Fragments, fragments_of
from gapless.explain.growth import growth_of
from gapless.explain.holders import holders_of
from gapless.explain.kinds.gradients import Gradients
from gapless.explain.kinds.lifetimes import Lives
from gapless.explain.kinds.of_blocks import kinds_of
from gapless.explain.kinds.phases import Phases, phases_of
from gapless.explain.kinds.same_place_before import Habits
from gapless.explain.lower_bound import lower_bound_bytes
from gapless.explain.moment import Facts, Moment, choose_moment, facts_at
from gapless.explain.on_card import OnCard, on_card
from gapless.explain.others_on_card import Beside, beside_of
from gapless.explain.pins import Pinned, pinned_of, pins_of
from gapless.explain.refusal import Refusal, refusal_at
from gapless.explain.request import request_of
from gapless.explain.rounding import Rounding, rounding_of
from gapless.explain.spike import Spike, spike_of
from gapless.explain.stack_table import StackTable
from gapless.explain.steps import Steps, steps_of
from gapless.recording.recording import FREE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.finding import Growth, Holder, Pin
    from gapless.explain.options import ExplainOptions
    from gapless.recording import Recording, State


@dataclass(frozen=True, eq=False)
class Case:
    """What is explained."""

    recording: Recording
    options: ExplainOptions
    moment: Moment
    state: State
    facts: Facts
    on_card: OnCard | None = None
    """Moment, state and facts are those of a replay on the card that the reader asks about; None: of the recording."""

    @property
    def recorded_moment(self) -> Moment:
        """The moment of the recorded run."""
        return self.on_card.recorded if self.on_card else self.moment

    @cached_property
    def lacks_segments(self) -> bool:
        """Whether the file leaves out what is reserved when it ends: then no state can be found."""
        reserved = self.recording.curves["reserved"]
        ends = self.recording.state_before(self.recording.event_count)
        return len(reserved) > 0 and int(reserved[-1]) > 0 and not len(ends.segments)

    @cached_property
    def refusal(self) -> Refusal | None:
        """The failing request in numbers; None when nothing failed at the moment."""
        return self.on_card.refusal if self.on_card else refusal_at(self.recording, self.moment.event, self.facts)

    @cached_property
    def beside(self) -> Beside | None:
        """Who else needs memory of the card; None when nothing is known of it."""
        return beside_of(self)

    @cached_property
    def stacks(self) -> StackTable:
        """The recording's stacks."""
        return StackTable(self.recording)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Bytes of each block."""
        size: NDArray[np.int64] = self.state.blocks["size"].astype(np.int64)
        return size

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        """Per block."""
        free: NDArray[np.bool_] = self.state.blocks["state"] == FREE
        return free

    @cached_property
    def is_usable(self) -> NDArray[np.bool_]:
        """Per block: free, and of the failed request's pool, stream and class; without a request, free."""
        if self.refusal is None:
            return self.is_free
        return self.is_free & self.refusal.request.may_use(self.state, self.recording.settings)

    @cached_property
    def block_stacks(self) -> NDArray[np.uint32]:
        """Per block the stack of its allocation, NO_STACK when not recorded.

        Where the event has none, the block at the end may name it: recorders can keep stacks for the state alone.
        """
        stacks: NDArray[np.uint32] = self.state.blocks["stack"].astype(np.uint32)
        known = self.state.allocation != _core.NO_ALLOCATION
        rows = self.state.allocation[known]
        of_event = self.recording.trace.allocations.stack[rows]
        stacks[known] = np.where(self.stacks.has_frames(of_event), of_event, self._stacks_at_end[rows])
        return stacks

    @cached_property
    def _stacks_at_end(self) -> NDArray[np.uint32]:
        """Of each allocation the stack of its block at the end, NO_STACK when it was gone by then."""
        end = self.recording.state_before(self.recording.event_count)
        found = np.full(len(self.recording.trace.allocations), _core.NO_STACK, dtype=np.uint32)
        known = end.allocation != _core.NO_ALLOCATION
        found[end.allocation[known]] = end.blocks["stack"][known]
        return found

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """Per block the index of its kind in ``KINDS``."""
        return kinds_of(self)

    @cached_property
    def holders(self) -> tuple[Holder, ...]:
        """Who holds the memory in use, by place and kind, the largest first."""
        return holders_of(self)

    @cached_property
    def fragments(self) -> Fragments | None:
        """Where the free bytes lie; None when nothing failed, or memory was full anyway."""
        return fragments_of(self)

    @cached_property
    def steps(self) -> Steps | None:
        """Where training steps begin; None where they cannot be told apart."""
        return steps_of(self.stacks)

    @cached_property
    def phases(self) -> Phases:
        """Where the program is in forward, backward and optimizer."""
        return phases_of(self.stacks, self.steps)

    @cached_property
    def lives(self) -> Lives:
        """How long allocations live."""
        return Lives(self.stacks, self.phases)

    @cached_property
    def gradients(self) -> Gradients:
        """Those of weights that a backward pass makes and leaves behind."""
        return Gradients(self.lives)

    @cached_property
    def habits(self) -> Habits:
        """What became of the allocations that took the same place before."""
        return Habits(self.lives)

    @cached_property
    def lower_bound_bytes(self) -> int:
        """Peak of live requested bytes with the failing request: no setting needs less, and none may reach it."""
        moment = self.recorded_moment
        return lower_bound_bytes(self.recording, moment.event if moment.is_failure else None)

    @cached_property
    def rounding(self) -> Rounding:
        """What is lost inside blocks in use."""
        return rounding_of(self)

    @cached_property
    def spike(self) -> Spike | None:
        """What lives only for a moment and makes the peak."""
        return spike_of(self)

    @cached_property
    def growth(self) -> tuple[Growth, ...]:
        """What grows with every step, the fastest first."""
        return growth_of(self)

    @cached_property
    def pins(self) -> tuple[Pin, ...]:
        """Segments with free memory that blocks in use keep from being returned, most free memory first."""
        return pins_of(self)

    @cached_property
    def pinned(self) -> Pinned:
        """The same in sum."""
        return pinned_of(self)


def open_case(recording: Recording, options: ExplainOptions) -> Case:
    """The case that the options ask for.

    Raises:
        InputError: The recording has no such moment.
    """
    moment = choose_moment(recording, options)
    state = recording.state_before(moment.event)
    facts = facts_at(recording, moment, state, options, request_of(recording, moment.event))
    there = on_card(recording, moment, facts, options)
    if there is not None:
        return Case(recording, options, there.moment, there.state, there.facts, there)
    return Case(recording, options, moment, state, facts)


def as_recorded(case: Case) -> Case:
    """The case of the recorded run, whatever card the reader asks about."""
    return case if case.on_card is None else open_case(case.recording, replace(case.options, card_bytes=None))
