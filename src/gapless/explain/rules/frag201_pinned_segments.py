"""FRAG201 pinned-segments: enough is free in the cache, but in pieces that blocks in use keep apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gapless.explain.frames import short_place
from gapless.explain.rule import Rule
from gapless.explain.words import alternative, plural, request_places, the_request
from gapless.recording.reserving import SMALL_BYTES
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding
    from gapless.explain.fragments import Fragments
    from gapless.explain.pins import Pinned

RULE = Rule(
    code="FRAG201",
    name="pinned-segments",
    severity="error",
    finds="The free bytes on the card and in the cache suffice for a request, but no single hole does, and no cached"
    " segment can be given back because a block in use lies in each.",
    why="This is what people call fragmentation. A segment goes back to the card only whole: one small tensor that"
    " lives long can hold a gigabyte.",
    measured="At the failing request: room on the card plus cached bytes suffice and at most 95 % of the limit is in"
    " use, and the largest free block of the request's pool, stream and size class is too small. The pins are the"
    " blocks in use in segments with free bytes, with the stack that allocated them and their age in events."
    " Where --card names another card, the run is replayed on it, and what fails there counts.",
    do="Let segments grow (expandable_segments:True), or keep large blocks whole (max_split_size_mb): gapless tune"
    " replays which of them works on this recording. In code: allocate the small tensors that live long before the"
    " large ones that come and go.",
    links=(
        "https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf",
    ),
)

_MOST_NAMED = 2
"""Places in the sentence about the cause; a report lists more."""


def find(case: Case) -> Iterator[Finding]:
    """An error when pieces of the request's own pool are the cause; nothing where another stream or pool is."""
    fragments = case.fragments
    if fragments is None or fragments.cause != "pieces":
        return
    refusal, own = fragments.refusal, fragments.own
    room = refusal.room_bytes
    free = f"{format_bytes(refusal.cached_bytes)} were free in the cache"
    if refusal.cached_bytes < refusal.request.rounded_bytes:
        free += f" and {format_bytes(room)} on the card"
    holes = f"the largest hole is {format_bytes(own.largest_bytes)}" if own.count else _no_hole(fragments)
    yield RULE.finding(
        f"{the_request(case, refusal)} failed although {free}: {holes}.",
        why=_why(case, fragments),
        **_what_to_do(case),
        bytes=refusal.cached_bytes,
        measurements={
            "rounded_bytes": refusal.request.rounded_bytes,
            "free_in_sum_bytes": refusal.free_in_sum_bytes,
            "cached_bytes": refusal.cached_bytes,
            "room_bytes": room,
            "largest_free_block_bytes": own.largest_bytes,
            "free_blocks": own.count,
            "in_use_share": round(refusal.in_use_share, 4),
            "pinned_segments": case.pinned.segments,
            "pinned_free_bytes": case.pinned.free_bytes,
            "pinning_blocks": case.pinned.blocks,
        },
        places=request_places(case, refusal) + case.pinned.places,
    )


def _no_hole(fragments: Fragments) -> str:
    if not fragments.is_mostly_of_other_class:
        return "no hole is of its pool"
    mine, others = _classes(fragments)
    return f"no hole is for {mine}, those there are serve only {others}"


def _classes(fragments: Fragments) -> tuple[str, str]:
    """The size class of the request, and the other one."""
    small, large = (f"requests {bound} {format_bytes(SMALL_BYTES)}" for bound in ("up to", "over"))
    return (small, large) if fragments.refusal.request.is_small else (large, small)


def _why(case: Case, fragments: Fragments) -> str:
    pinned = case.pinned
    if not pinned.segments:
        pages = " in whole pages" if case.recording.settings.expandable_segments else ""
        count = fragments.own.count + fragments.rest.count
        return f"The free memory lies in {plural(count, 'piece')}, none of which can be returned{pages}."
    least, most = format_bytes(pinned.block_bytes_least), format_bytes(pinned.block_bytes_most)
    segments = plural(pinned.segments, "segment")
    if fragments.is_mostly_of_other_class:
        segments += f" for {_classes(fragments)[1]}"
    return (
        f"{segments} with {format_bytes(pinned.free_bytes)} free cannot be returned:"
        f" {plural(pinned.blocks, 'block')} of {least if least == most else f'{least} to {most}'}"
        f" {'lies' if pinned.blocks == 1 else 'lie'} in {'it' if pinned.segments == 1 else 'them'}{_whose(pinned)}."
    )


def _whose(pinned: Pinned) -> str:
    """The places of most of the blocks."""
    places = [one for one in pinned.by_place if one.at is not None]
    if places and places[0].blocks == pinned.blocks:
        return f", allocated at {short_place(places[0].at)}"
    parts = [f"{one.blocks:,} of {short_place(one.at)} in {one.segments:,}" for one in places[:_MOST_NAMED]]
    return f", {' and '.join(parts)} of the segments" if parts else ""


def _what_to_do(case: Case) -> dict[str, Any]:
    """The advice, and what of it is about the program."""
    if case.recording.settings.expandable_segments:
        besides = "Allocate what lives long before what comes and goes, or lower the peak."
        text = f"Expandable segments are on already. {besides} gapless tune replays what other settings do."
    else:
        first = next((one.at for one in case.pinned.by_place if one.at is not None), None)
        besides = f"Perhaps allocate what {short_place(first)} keeps before the large tensors: no replay tried that."
        besides = besides if first else ""
        text = (
            "Let segments grow (expandable_segments:True) or keep large blocks whole (max_split_size_mb); replay tells"
            f" which serves the request. {alternative(besides)}"
        )
    return {"what_to_do": text.rstrip(), "besides": besides, "names_settings": True}
