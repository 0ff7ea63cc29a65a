"""OOM102 request-larger-than-card: the request alone exceeds what PyTorch may reserve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.could_have import could_have, had_earlier_bytes
from gapless.explain.rule import Rule
from gapless.explain.words import request_places, the_request
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="OOM102",
    name="request-larger-than-card",
    severity="error",
    finds="A single request asks for more than PyTorch may reserve at all.",
    why="It would fail on an empty card too. Usually a shape is wrong (a mask of sequence by sequence, logits of the"
    " whole vocabulary for the whole batch, an accidental broadcast), not the memory.",
    measured="The bytes that the device was asked for are held against the limit: what was reserved plus what the card"
    " had free, or more where it had more earlier in the recording, or the process's memory limit.",
    do="Look at the shapes at the line that made the request. Split the operation, or choose one that needs no such"
    " tensor.",
)
_DO = "Check the shapes at that line; split the operation or use one without this tensor."


def find(case: Case) -> Iterator[Finding]:
    """An error when the request alone is larger than the most that the limit can be, or than all that there was."""
    refusal = case.refusal
    if refusal is None:
        return
    asked = refusal.request.segment_bytes
    had_earlier = had_earlier_bytes(case, refusal)
    ceiling = max(refusal.limit_bytes_most, had_earlier, could_have(case, refusal).bytes)
    is_range = refusal.limit_bytes_least != refusal.limit_bytes_most
    if refusal.by_limit and refusal.reserved_bytes == 0 and is_range and had_earlier < asked:
        ceiling = asked - 1  # nothing was reserved, and yet it was refused
    if asked <= ceiling:
        return
    limit = "the process's memory limit" if refusal.by_limit else format_bytes(ceiling)
    yield RULE.finding(
        f"{the_request(case, refusal)} alone exceeds {limit}"
        f"{'' if refusal.by_limit else ', all that PyTorch could have'}.",
        why="It would fail on an empty card too, so a shape is larger than meant, or the operation does not fit.",
        what_to_do=f"{_DO} No allocator setting helps.",
        besides=_DO,
        bytes=asked - ceiling,
        measurements={
            "rounded_bytes": refusal.request.rounded_bytes,
            "segment_bytes": asked,
            "limit_bytes": ceiling,
        },
        places=request_places(case, refusal),
    )
