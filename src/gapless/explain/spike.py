"""The spike at the moment: memory in use that lives only for a moment, from all places together."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.among import among
from gapless.explain.brief_memory import brief_of
from gapless.explain.frames import short_place
from gapless.explain.kinds.phases import Phase
from gapless.units import format_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case
    from gapless.explain.finding import Stack

_LEAST_SHARE, _LEAST_GAIN = 0.15, 0.05
_NAMED = 3
"""Places in the message."""
_LOSS = re.compile(r"cross_entropy|nll_loss|log_softmax|kl_div")


@dataclass(frozen=True)
class Part:
    """What one place has in a spike."""

    bytes: int
    stack: Stack
    """That made the largest block."""
    phase: Phase
    where: str

    @property
    def cure(self) -> str:
        """What makes it smaller, by what it is."""
        if self.phase is Phase.OPTIMIZER:
            return (
                "Make the optimizer with fused=True, which needs no lists of temporaries, or with foreach=False, which"
                " needs those of one tensor at a time."
            )
        if any(_LOSS.search(frame[2]) for frame in self.stack):
            return (
                "Compute the loss in pieces (over parts of the sequence, each under a checkpoint), or use a fused"
                " linear cross entropy that never holds all logits."
            )
        if self.phase is Phase.BACKWARD:
            return (
                "These are gradients of activations on their way back: a smaller batch, or micro-batches whose"
                " gradients add up, makes them smaller."
            )
        return "Do that work in smaller pieces or fused, or free its inputs a line earlier."


@dataclass(frozen=True)
class Spike:
    """Brief memory that makes the peak; sizes are bytes."""

    bytes: int
    blocks: int
    largest_bytes: int
    parts: tuple[Part, ...]
    """The places with most of it, the largest first."""
    places: int
    """All of them."""
    active_bytes_peak: int
    active_bytes_peak_without: int
    decides: bool
    """Whether the request that failed would fit without it."""

    @property
    def where(self) -> str:
        """The places in words."""
        if self.places == 1:
            return f"allocated {self.parts[0].where}"
        named = [f"{format_bytes(part.bytes)} {part.where}" for part in self.parts]
        rest = self.bytes - sum(part.bytes for part in self.parts)
        return ", ".join([*named, f"{format_bytes(rest)} elsewhere"] if rest else named)

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """Of the places named."""
        return tuple(part.stack for part in self.parts if part.stack)

    @property
    def cure(self) -> str:
        """What makes it smaller. Backward works on what the loss made, so where both are there, the loss is told of."""
        of_loss = (part for part in self.parts if any(_LOSS.search(frame[2]) for frame in part.stack))
        return next(of_loss, self.parts[0]).cure


def spike_of(case: Case) -> Spike | None:
    """The spike; None where brief memory is little, or the peak would be hardly lower without it."""
    allocations, brief = case.recording.trace.allocations, brief_of(case)
    used = ~case.is_free & (case.state.allocation != _core.NO_ALLOCATION)
    alive = case.state.allocation[used].astype(np.int64)
    alive = alive[brief[alive]]
    size, active = int(allocations.size[alive].sum()), max(case.facts.active_bytes, 1)
    if not len(alive) or size < _LEAST_SHARE * active:
        return None
    source = _sources(case)
    peak, without = _peaks(case, np.flatnonzero(brief & among(source, source[alive])))
    if without > (1 - _LEAST_GAIN) * peak:
        return None
    refusal, (parts, places) = case.refusal, _parts(case, alive, source)
    return Spike(
        bytes=size,
        blocks=len(alive),
        largest_bytes=int(allocations.size[alive].max()),
        parts=parts,
        places=places,
        active_bytes_peak=peak,
        active_bytes_peak_without=without,
        decides=refusal is not None and refusal.is_full and refusal.would_fit(active - size, refusal.limit_bytes_least),
    )


def _sources(case: Case) -> NDArray[np.int64]:
    """Per allocation the number of its place; of what has no place, at least the phase is known."""
    place = case.stacks.place_of(case.recording.trace.allocations.stack)
    return np.where(place == 0, -1 - case.lives.phase, place)


def _parts(case: Case, alive: NDArray[np.int64], source: NDArray[np.int64]) -> tuple[tuple[Part, ...], int]:
    """The places that have most of a spike, the largest first, and the number of all."""
    allocations = case.recording.trace.allocations
    numbers, of = np.unique(source[alive], return_inverse=True)
    sizes = np.bincount(of, weights=allocations.size[alive].astype(np.float64)).astype(np.int64)
    found = []
    for row in np.argsort(-sizes, kind="stable")[:_NAMED]:
        mine = alive[of == row]
        largest = int(mine[np.argmax(allocations.size[mine])])
        stack = int(allocations.stack[largest])
        phase = Phase(int(case.lives.phase[largest]))
        place = case.stacks.place(stack)
        where = f"at {short_place(place)}"
        if place is None and phase is Phase.BACKWARD:
            where = "in the backward pass (its thread leaves no stack)"
        found.append(Part(int(sizes[row]), case.stacks.stack(stack), phase, where))
    return tuple(found), len(numbers)


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
