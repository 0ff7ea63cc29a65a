"""PEAK401 spike: memory that lives only for a moment makes the peak."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.finding import KINDS
from gapless.explain.frames import short_place
from gapless.explain.phases import Phase
from gapless.explain.rule import Rule
from gapless.explain.words import percent, plural
from gapless.units import format_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="PEAK401",
    name="spike",
    severity="info",
    finds="A large part of the memory in use lives only for a moment and comes from one place: logits, the temporaries"
    " of an optimizer step, one large operation.",
    why="A card must hold the peak. What lives briefly is often the cheapest to cut: compute the loss in pieces, use a"
    " fused optimizer, or free a tensor a line earlier.",
    measured="Of the allocations alive at the moment those that live for at most one twentieth of a step (a hundredth"
    " of the recording, where steps are not known) or are temporary by kind, by place. Speaks when one place has at"
    " least 15 % of the memory in use and the peak of the recording would be at least 5 % lower without it.",
    do="Look at the place: chunked or fused cross entropy for logits, a fused optimizer instead of foreach, del before"
    " the next large operation.",
)
_SHORT, _BRIEF = 1 / 20, 1 / 100
"""Of a step, or of a recording without steps."""
_LEAST_SHARE, _LEAST_GAIN = 0.15, 0.05


def find(case: Case) -> Iterator[Finding]:
    """A warning when the failed request would fit without the spike; else worth knowing."""
    allocations, brief = case.recording.trace.allocations, _brief(case)
    place = case.stacks.place_of(allocations.stack)
    alive = _alive(case)
    alive = alive[brief[alive]]
    if not len(alive):
        return
    by_place = np.bincount(place[alive], weights=allocations.size[alive].astype(np.float64))
    top = int(by_place.argmax())
    spike, active = int(by_place[top]), max(case.facts.active_bytes, 1)
    if spike < _LEAST_SHARE * active:
        return
    peak, without = _peaks(case, np.flatnonzero(brief & (place == top)))
    if without > (1 - _LEAST_GAIN) * peak:
        return
    mine = alive[place[alive] == top]
    largest = int(mine[np.argmax(allocations.size[mine])])
    refusal = case.refusal
    decides = refusal is not None and refusal.is_full and refusal.would_fit(active - spike, refusal.limit_bytes_least)
    stack = case.stacks.stack(int(allocations.stack[largest]))
    yield RULE.finding(
        f"{format_bytes(spike)} of the memory in use ({percent(spike / active)}) live only for a moment, allocated"
        f" {_where(case, largest)} in {plural(len(mine), 'block')}.",
        severity="warning" if decides else "info",
        why=f"Without them the peak of memory in use would be {format_bytes(without)} instead of {format_bytes(peak)}.",
        what_to_do="Do that work in smaller pieces, fused, or free its inputs a line earlier.",
        bytes=spike,
        measurements={
            "spike_bytes": spike,
            "active_bytes": case.facts.active_bytes,
            "spike_blocks": len(mine),
            "largest_bytes": int(allocations.size[largest]),
            "active_bytes_peak": peak,
            "active_bytes_peak_without": without,
        },
        places=(stack,) if stack else (),
    )


def _alive(case: Case) -> NDArray[np.int64]:
    """The allocations alive at the moment."""
    used = ~case.is_free & (case.state.allocation != _core.NO_ALLOCATION)
    alive: NDArray[np.int64] = case.state.allocation[used].astype(np.int64)
    return alive


def _brief(case: Case) -> NDArray[np.bool_]:
    """Per allocation: whether it lives for a moment. What is alive at the end counts by its age, or by its kind."""
    count, steps, lives = case.recording.event_count, case.steps, case.lives
    moment = _SHORT * np.median(np.diff(steps.boundaries)) if steps is not None and steps.count else _BRIEF * count
    until = case.moment.event if case.moment.is_failure else count
    brief = (np.minimum(lives.died, until) - lives.born <= max(moment, 1)) & (
        np.minimum(lives.died, until) > lives.born
    )
    if case.phases.has(Phase.FORWARD):
        brief |= lives.outlives == 0
    used = ~case.is_free & (case.state.allocation != _core.NO_ALLOCATION)
    brief[case.state.allocation[used & (case.kinds == KINDS.index("temporary"))]] = True
    return brief & (lives.born >= 0)


def _where(case: Case, allocation: int) -> str:
    place = case.stacks.place(int(case.recording.trace.allocations.stack[allocation]))
    if place is None and case.lives.phase[allocation] == Phase.BACKWARD:
        return "in the backward pass (its thread leaves no stack)"
    return f"at {short_place(place)}"


def _peaks(case: Case, left_out: NDArray[np.int64]) -> tuple[int, int]:
    """Peak of active bytes up to the moment of failure (or the end), with and without some allocations."""
    count = case.recording.event_count
    until = case.moment.event if case.moment.is_failure else count
    allocations = case.recording.trace.allocations
    change = np.zeros(count + 2, dtype=np.int64)
    size = allocations.size[left_out].astype(np.int64)
    np.add.at(change, allocations.alloc_event[left_out] + 1, size)
    completed = np.minimum(allocations.free_completed_event[left_out].astype(np.int64), count)
    np.add.at(change, completed + 1, -size)
    active = case.recording.curves["active"][: until + 1]
    return int(active.max()), int((active - np.cumsum(change)[: until + 1]).max())
