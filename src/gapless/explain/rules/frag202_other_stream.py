"""FRAG202 other-stream: the memory is free, but cached for another stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.free_elsewhere import Others, found_elsewhere
from gapless.explain.rule import Rule

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
    """An error when other streams' caches are the cause."""
    fragments = case.fragments
    if fragments is None or fragments.cause != "stream":
        return
    others = Others(
        name="other_streams",
        pieces=fragments.other_streams,
        holds="the caches of other streams",
        rule_of_sharing="A block serves only the stream it was allocated on; the request's own stream",
    )
    yield found_elsewhere(
        RULE,
        case,
        fragments,
        others,
        what_to_do="Allocate these tensors on one stream and hand them over with record_stream, or use fewer side"
        " streams.",
    )
