"""OOM104 spurious: the same request would be served if it were made again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule
from gapless.explain.words import request_places, the_request
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="OOM104",
    name="spurious",
    severity="error",
    finds="A request failed although, when it did, a free block that fits it was in its own pool.",
    why="Before it gives up, the allocator waits for other streams and takes their memory back, but then asks only the"
    " card again and does not look into its cache a second time. What it just got back can hold the request, and the"
    " program dies all the same.",
    measured="In the state at the failure, after everything that the failing call freed: the largest free block of the"
    " request's pool, stream and size class that the settings let it use. The request is smaller.",
    do="Catch the error and try once more, or synchronise (torch.cuda.synchronize) before this allocation so that"
    " memory used on other streams is free in time. Fewer bytes under record_stream help as well.",
)


def find(case: Case) -> Iterator[Finding]:
    """An error when the largest usable free block holds the failed request."""
    refusal = case.refusal
    if refusal is None or case.facts.largest_free_block_bytes < refusal.request.rounded_bytes:
        return
    hole = case.facts.largest_free_block_bytes
    yield RULE.finding(
        f"{the_request(case, refusal)} failed although a free block of {format_bytes(hole)} in its own pool fits it.",
        why="The block became free while the request was failing, and the allocator does not look into its cache"
        " again after that.",
        what_to_do="Try the allocation once more when it fails, or call torch.cuda.synchronize() before it.",
        bytes=hole,
        measurements={"rounded_bytes": refusal.request.rounded_bytes, "largest_free_block_bytes": hole},
        places=request_places(case, refusal),
    )
