"""What FRAG202 and FRAG203 share: memory is free, but another stream's or another pool's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.frames import short_place
from gapless.explain.words import plural, request_places, the_request
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding
    from gapless.explain.fragments import Fragments, Pieces
    from gapless.explain.rule import Rule


@dataclass(frozen=True, kw_only=True)
class Others:
    """Who has the memory, in words."""

    name: str
    """In measurements."""
    pieces: Pieces
    holds: str
    """Where it is free."""
    asked: str = ""
    """Where the request was made, if that has to be said."""
    rule_of_sharing: str
    """That these do not share, and the beginning of what the request's own has."""


def found_elsewhere(rule: Rule, case: Case, fragments: Fragments, others: Others, *, what_to_do: str) -> Finding:
    """The finding that a request failed although others have free memory."""
    refusal, own, pieces = fragments.refusal, fragments.own, others.pieces
    last = _last_stack(case, pieces.largest_block)
    place = case.stacks.place(last) if last is not None else None
    used = f" The largest hole elsewhere was last used at {short_place(place)}." if place else ""
    largest = f"{plural(own.count, 'free block')} of at most {format_bytes(own.largest_bytes)}"
    return rule.finding(
        f"{the_request(case, refusal)}{others.asked} failed although {format_bytes(pieces.bytes)} are free in"
        f" {others.holds}, the largest hole {format_bytes(pieces.largest_bytes)}.",
        why=f"{others.rule_of_sharing} has {largest if own.count else 'no free block of this size class'}.{used}",
        what_to_do=what_to_do,
        bytes=pieces.bytes,
        measurements={
            "rounded_bytes": refusal.request.rounded_bytes,
            f"{others.name}_free_bytes": pieces.bytes,
            f"{others.name}_largest_bytes": pieces.largest_bytes,
            "own_free_bytes": own.bytes,
            "largest_free_block_bytes": own.largest_bytes,
            "free_in_sum_bytes": refusal.free_in_sum_bytes,
        },
        places=request_places(case, refusal) + ((case.stacks.stack(last),) if last is not None and place else ()),
    )


def _last_stack(case: Case, block: int) -> int | None:
    """The stack of the allocation that lay last where a free block is; None when none was recorded."""
    if block < 0 or case.on_card is not None:  # addresses of a replay are not the recorded ones
        return None
    row, allocations = case.state.blocks[block], case.recording.trace.allocations
    # Differences of addresses wrap around, so that one comparison says whether the other begins inside.
    overlaps = allocations.address - row["address"] < row["size"]
    overlaps |= row["address"] - allocations.address < allocations.size
    overlaps &= allocations.alloc_event >= 0
    before = np.flatnonzero(overlaps & (allocations.free_completed_event < case.moment.event))
    return int(allocations.stack[before[np.argmax(allocations.alloc_event[before])]]) if len(before) else None
