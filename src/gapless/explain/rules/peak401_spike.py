"""PEAK401 spike: memory that lives only for a moment makes the peak."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.brief import brief_of
from gapless.explain.frames import short_place
from gapless.explain.phases import Phase
from gapless.explain.rule import Rule
from gapless.explain.words import percent, plural
from gapless.units import format_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case
    from gapless.explain.finding import Finding, Stack

RULE = Rule(
    code="PEAK401",
    name="spike",
    severity="info",
    finds="A large part of the memory in use lives only for a moment: logits and what the loss makes of them, the"
    " temporaries of an optimizer step, one large operation.",
    why="A card must hold the peak. What lives briefly is often the cheapest to cut: compute the loss in pieces, use a"
    " fused optimizer, or free a tensor a line earlier.",
    measured="Of the allocations in use at the moment, from all places together, those that live for at most one"
    " twentieth of a step (a hundredth of the recording, where steps are not known), or end with the backward pass or"
    " the optimizer step that made them. At a failure, where lives are cut off, the earlier ones of the same stack"
    " decide. Speaks when that is at least 15 % of the memory in use and the peak of the recording would be at least"
    " 5 % lower without it.",
    do="Look at the places: chunked or fused cross entropy for logits; a fused optimizer, or one that works tensor by"
    " tensor (foreach=False); del before the next large operation.",
)
_LEAST_SHARE, _LEAST_GAIN = 0.15, 0.05
_NAMED = 3
"""Places in the message."""
_LOSS = re.compile(r"cross_entropy|nll_loss|log_softmax|kl_div")


def find(case: Case) -> Iterator[Finding]:
    """A warning when the failed request would fit without the spike; else worth knowing."""
    allocations, brief = case.recording.trace.allocations, brief_of(case)
    alive = _alive(case)
    alive = alive[brief[alive]]
    spike, active = int(allocations.size[alive].sum()), max(case.facts.active_bytes, 1)
    if not len(alive) or spike < _LEAST_SHARE * active:
        return
    source = _sources(case)
    peak, without = _peaks(case, np.flatnonzero(brief & np.isin(source, source[alive])))
    if without > (1 - _LEAST_GAIN) * peak:
        return
    parts = _parts(case, alive, source)
    refusal = case.refusal
    decides = refusal is not None and refusal.is_full and refusal.would_fit(active - spike, refusal.limit_bytes_least)
    yield RULE.finding(
        f"{format_bytes(spike)} of the memory in use ({percent(spike / active)}) live only for a moment,"
        f" in {plural(len(alive), 'block')}: {_in_words(parts)}.",
        severity="warning" if decides else "info",
        why=f"Without them the peak of memory in use would be {format_bytes(without)} instead of {format_bytes(peak)}.",
        what_to_do=_what_to_do(case, parts[0]),
        bytes=spike,
        measurements={
            "spike_bytes": spike,
            "active_bytes": case.facts.active_bytes,
            "spike_blocks": len(alive),
            "largest_bytes": int(allocations.size[alive].max()),
            "places": len(parts),
            "active_bytes_peak": peak,
            "active_bytes_peak_without": without,
        },
        places=tuple(part.stack for part in parts[:_NAMED] if part.stack),
    )


@dataclass(frozen=True)
class _Part:
    """What one place has in a spike."""

    bytes: int
    stack: Stack
    """That made the largest block."""
    phase: Phase
    where: str


def _alive(case: Case) -> NDArray[np.int64]:
    """The allocations alive at the moment."""
    used = ~case.is_free & (case.state.allocation != _core.NO_ALLOCATION)
    alive: NDArray[np.int64] = case.state.allocation[used].astype(np.int64)
    return alive


def _sources(case: Case) -> NDArray[np.int64]:
    """Per allocation the number of its place; of what has no place, at least the phase is known."""
    place = case.stacks.place_of(case.recording.trace.allocations.stack)
    return np.where(place == 0, -1 - case.lives.phase, place)


def _parts(case: Case, alive: NDArray[np.int64], source: NDArray[np.int64]) -> list[_Part]:
    """The places of a spike, the largest first."""
    allocations = case.recording.trace.allocations
    found = []
    for number in sorted(set(source[alive].tolist())):
        mine = alive[source[alive] == number]
        largest = int(mine[np.argmax(allocations.size[mine])])
        stack = int(allocations.stack[largest])
        phase = Phase(int(case.lives.phase[largest]))
        place = case.stacks.place(stack)
        where = f"at {short_place(place)}"
        if place is None and phase is Phase.BACKWARD:
            where = "in the backward pass (its thread leaves no stack)"
        found.append(_Part(int(allocations.size[mine].sum()), case.stacks.stack(stack), phase, where))
    return sorted(found, key=lambda part: -part.bytes)


def _in_words(parts: list[_Part]) -> str:
    if len(parts) == 1:
        return f"allocated {parts[0].where}"
    named = [f"{format_bytes(part.bytes)} {part.where}" for part in parts[:_NAMED]]
    rest = sum(part.bytes for part in parts[_NAMED:])
    return ", ".join([*named, f"{format_bytes(rest)} elsewhere"] if rest else named)


def _what_to_do(case: Case, largest: _Part) -> str:
    """By what the largest part is."""
    if largest.phase is Phase.OPTIMIZER:
        return (
            "Make the optimizer with fused=True, which needs no lists of temporaries, or with foreach=False, which"
            " needs those of one tensor at a time."
        )
    if any(_LOSS.search(frame[2]) for frame in largest.stack):
        return (
            "Compute the loss in pieces (over parts of the sequence, each under a checkpoint), or use a fused linear"
            " cross entropy that never holds all logits."
        )
    if largest.phase is Phase.BACKWARD:
        return (
            "These are gradients of activations on their way back: a smaller batch, or micro-batches whose gradients"
            " add up, makes them smaller."
        )
    return "Do that work in smaller pieces or fused, or free its inputs a line earlier."


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
