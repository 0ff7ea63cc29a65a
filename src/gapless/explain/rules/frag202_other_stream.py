"""FRAG202 other-stream: the memory is free, but cached for another stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule
from gapless.explain.words import plural, request_places, the_request
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="FRAG202",
    name="other-stream",
    severity="error",
    finds="The free bytes that would hold a request are cached for another stream than the one that asks.",
    why="A cached block serves only the stream that it was first allocated on, since the allocator cannot know whether"
    " the other stream is done with it. Side streams for copies and communication thus build caches of their own.",
    measured="At the failing request: free blocks of the request's pool and size class, by stream. A hole in another"
    " stream's cache would hold the request; or, with none that does, most free bytes are another stream's.",
    do="Allocate on the stream that uses the memory most (outside `with torch.cuda.stream(...)`) and pass tensors to"
    " side streams with record_stream; use fewer side streams; call torch.cuda.empty_cache() once after the side"
    " stream's first use, when its segments are wholly free.",
    links=("https://docs.pytorch.org/docs/stable/generated/torch.Tensor.record_stream.html",),
)


def find(case: Case) -> Iterator[Finding]:
    """An error when other streams' caches are the cause; a warning when they could serve but are not."""
    fragments = case.fragments
    if fragments is None or fragments.cause != "stream":
        return
    refusal, others = fragments.refusal, fragments.other_streams
    yield RULE.finding(
        f"{the_request(case, refusal)} failed although {format_bytes(others.bytes)} are free in the caches of other"
        f" streams, the largest hole {format_bytes(others.largest_bytes)}.",
        why=f"A block serves only the stream it was allocated on; the request's own stream has"
        f" {plural(fragments.own.count, 'free block')} of at most {format_bytes(fragments.own.largest_bytes)}.",
        what_to_do="Allocate these tensors on one stream and hand them over with record_stream, or use fewer side"
        " streams.",
        bytes=others.bytes,
        measurements={
            "rounded_bytes": refusal.request.rounded_bytes,
            "other_streams_free_bytes": others.bytes,
            "other_streams_largest_bytes": others.largest_bytes,
            "own_free_bytes": fragments.own.bytes,
            "largest_free_block_bytes": fragments.own.largest_bytes,
            "free_in_sum_bytes": refusal.free_in_sum_bytes,
        },
        places=request_places(case, refusal),
    )
