"""FRAG201 pinned-segments: enough is free in the cache, but in pieces that blocks in use keep apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.frames import short_place
from gapless.explain.rule import Rule
from gapless.explain.words import plural, request_places, the_request
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding, Frame, Stack
    from gapless.explain.fragments import Fragments

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
    " blocks in use in segments with free bytes, with the stack that allocated them and their age in events.",
    do="Let segments grow (expandable_segments:True), or keep large blocks whole (max_split_size_mb): gapless tune"
    " replays which of them works on this recording. In code: allocate the small tensors that live long before the"
    " large ones that come and go.",
    links=(
        "https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf",
    ),
)


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
    holes = f"the largest hole is {format_bytes(own.largest_bytes)}" if own.count else "no hole is of its pool"
    yield RULE.finding(
        f"{the_request(case, refusal)} failed although {free}: {holes}.",
        why=_why(case, fragments),
        what_to_do=_what_to_do(case),
        bytes=refusal.cached_bytes,
        measurements={
            "rounded_bytes": refusal.request.rounded_bytes,
            "free_in_sum_bytes": refusal.free_in_sum_bytes,
            "cached_bytes": refusal.cached_bytes,
            "room_bytes": room,
            "largest_free_block_bytes": own.largest_bytes,
            "free_blocks": own.count,
            "in_use_share": round(refusal.in_use_share, 4),
            "pinned_segments": len(case.pins),
        },
        places=_places(case, fragments),
    )


def _why(case: Case, fragments: Fragments) -> str:
    if not case.pins:
        pages = " in whole pages" if case.recording.settings.expandable_segments else ""
        return f"The free memory lies in {plural(fragments.own.count, 'piece')}, none of which can be returned{pages}."
    blocks = [block for pin in case.pins for block in pin.blocks]
    least, most = min(block.bytes for block in blocks), max(block.bytes for block in blocks)
    size = format_bytes(least) if least == most else f"{format_bytes(least)} to {format_bytes(most)}"
    at = Counter[tuple[str, int, str] | None](block.at for block in blocks)
    places = [short_place(frame) for frame, _ in at.most_common(3) if frame]
    where = f", allocated at {' and '.join(places)}" if places else ""
    held = sum(pin.free_bytes for pin in case.pins)
    return (
        f"{plural(len(case.pins), 'segment')} with {format_bytes(held)} free cannot be returned:"
        f" {plural(len(blocks), 'block')} in use ({size}) {'lies' if len(blocks) == 1 else 'lie'} in them{where}."
    )


def _what_to_do(case: Case) -> str:
    settings = case.recording.settings
    if settings.expandable_segments:
        return (
            "Expandable segments are on already. Allocate what lives long before what comes and goes, or lower the"
            " peak; gapless tune replays what other settings do."
        )
    pins: Counter[Frame | None] = Counter(block.at for pin in case.pins for block in pin.blocks)
    first = next((short_place(frame) for frame, _ in pins.most_common() if frame), "")
    early = f", or allocate what {first} keeps before the large tensors" if first else ""
    return f"Try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (gapless tune proves it by replay){early}."


def _places(case: Case, fragments: Fragments) -> tuple[Stack, ...]:
    pinned = Counter[tuple[tuple[str, int, str], ...]](block.place for pin in case.pins for block in pin.blocks)
    return request_places(case, fragments.refusal) + tuple(stack for stack, _ in pinned.most_common(3) if stack)
