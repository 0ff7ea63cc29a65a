"""OOM101 capacity: the memory was really in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.frames import short_place
from gapless.explain.rule import Rule
from gapless.explain.state_to_come import state_to_come_bytes
from gapless.explain.words import by_kind, percent, request_places, the_request, what_is_in_use
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding, Kind
    from gapless.explain.refusal import Refusal

RULE = Rule(
    code="OOM101",
    name="capacity",
    severity="error",
    finds="A request failed because the memory was in use: what is in use and the request together exceed what PyTorch"
    " may reserve, or more than 95 % of it is in use.",
    why="The message of PyTorch ends with advice about fragmentation whatever the cause was. Here that advice would"
    " cost a day: even perfect packing gains next to nothing.",
    measured="At the failing request: the bytes in use, the bytes cached, and the bytes that the card still had. Room"
    " and cache together are held against the request, and the bytes in use against the limit (reserved plus what the"
    " card had free). Where --card names another card, the run is replayed on it, and what fails there counts.",
    do="Look at what holds the memory, by kind and by place, and make that smaller: a smaller batch or activation"
    " checkpointing for activations; 8-bit or sharded optimizer state; lower precision or sharding for weights. Or take"
    " a larger card. No allocator setting helps.",
    links=("https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management",),
)

_ADVICE: dict[Kind, str] = {
    "activations": "a smaller batch, shorter sequences or activation checkpointing",
    "optimizer": "8-bit or sharded optimizer state, or an optimizer with less of it",
    "weights": "weights in lower precision, quantised, or sharded over cards",
    "gradients": "gradients in lower precision or sharded, or an optimizer that steps inside backward and frees each",
    "temporary": "a smaller batch, or smaller pieces of the operation that makes the temporary memory",
}
_MOSTLY = 0.75
"""Above it the memory in use is the point, below it the size of the request."""


def find(case: Case) -> Iterator[Finding]:
    """An error at a failure for which memory was full and the card, not a limit, refused."""
    refusal = case.refusal
    if refusal is None:
        yield from _for_others(case)
        return
    if not refusal.is_full or refusal.by_limit:
        return
    yield RULE.finding(
        _what(case, refusal),
        why=_why(case, refusal),
        **_what_to_do(case),
        bytes=refusal.missing_bytes,
        measurements={
            "rounded_bytes": refusal.request.rounded_bytes,
            "active_bytes": refusal.active_bytes,
            "limit_bytes": refusal.limit_bytes_least,
            "in_use_share": round(refusal.in_use_share, 4),
            "cached_bytes": refusal.cached_bytes,
            "room_bytes": refusal.room_bytes,
            "free_in_sum_bytes": refusal.free_in_sum_bytes,
            "missing_bytes": refusal.missing_bytes,
        },
        places=request_places(case, refusal),
    )


def _what(case: Case, refusal: Refusal) -> str:
    in_use, limit = format_bytes(refusal.active_bytes), format_bytes(refusal.limit_bytes_least)
    if refusal.in_use_share < _MOSTLY:
        return (
            f"{the_request(case, refusal)} does not fit beside the {in_use} in use: PyTorch could have {limit} in all."
        )
    return (
        f"{the_request(case, refusal)} failed because the memory is in use: {in_use} of the {limit} that PyTorch could"
        f" have ({percent(refusal.in_use_share)})."
    )


def _why(case: Case, refusal: Refusal) -> str:
    cached = f"Only {format_bytes(refusal.cached_bytes)} were cached" if refusal.cached_bytes else "Nothing was cached"
    left = f"{cached} and {format_bytes(refusal.room_bytes)} were left on the card"
    if not refusal.missing_bytes:
        left += ": enough in sum for this request, but perfect packing would gain no more than that"
    to_come = state_to_come_bytes(case)
    more = f" The optimizer had about {format_bytes(to_come)} more of its state to make." if to_come else ""
    return f"{left}. {what_is_in_use(case)}{more}".rstrip()


def _what_to_do(case: Case) -> dict[str, str]:
    """The advice, and what of it is about the program."""
    refusal, spike = case.refusal, case.spike
    is_little = refusal is not None and not refusal.missing_bytes
    settings = "A setting gains little and puts the failure off." if is_little else "No allocator setting helps."
    kinds = [kind for kind in by_kind(case) if kind in _ADVICE]
    smaller = _ADVICE[kinds[0]] if kinds else "a smaller job"
    own = _own_request(case)
    larger = f"{own}{smaller}, or a larger card{_how_large(case)}"
    if spike is not None and spike.decides:
        besides = f"{spike.cure} Else: {larger}."
        fits = f"would fit without the {format_bytes(spike.bytes)} that live only for a moment (PEAK401 below)"
        return {"what_to_do": f"{settings} The request {fits}. {besides}", "besides": besides}
    top = next((holder for holder in case.holders if holder.at), None)
    start = f"; begin at {short_place(top.at)}, which holds {format_bytes(top.bytes)}" if top else ""
    helps = "helps" if is_little else "does"
    return {
        "what_to_do": f"{settings} What {helps}: {larger}{start}.",
        "besides": f"{larger[0].upper()}{larger[1:]}{start}.",
    }


def _own_request(case: Case) -> str:
    """The request itself as what to make smaller first, where it is larger than all that is in use."""
    refusal = case.refusal
    if refusal is None or refusal.request.rounded_bytes <= refusal.active_bytes:
        return ""
    place = case.stacks.place(refusal.request.stack)
    at = f" at {short_place(place)}" if place else ""
    return f"a smaller request{at}, which alone asks for more than all that is in use; else "


def _how_large(case: Case) -> str:
    """What a card must have at least, where the optimizer was still making its state."""
    to_come = state_to_come_bytes(case)
    return f" with at least {format_bytes(case.facts.active_bytes + to_come)} for PyTorch" if to_come else ""


def _for_others(case: Case) -> Iterator[Finding]:
    """An error when somebody beside PyTorch gets too little, and its cache is not why."""
    beside = case.beside
    if beside is None or beside.is_starved_by_cache or not beside.is_starved:
        return
    if beside.is_starved_by_growth:
        return  # GROW301 says so, and that a smaller job or a larger card only delays it
    wanted = "" if beside.wanted_bytes is None else f" {format_bytes(beside.wanted_bytes)}"
    in_use, cached = format_bytes(beside.active_bytes), format_bytes(beside.cached_bytes)
    why = f"Only {cached} were cached and unused."
    what = f"{beside.who} did not get{wanted or ' memory'} beside the {in_use} that PyTorch has in use"
    if not beside.has_failed:
        card = format_bytes(beside.card_bytes or 0)
        why = f"That was at the peak, with {format_bytes(beside.reserved_bytes)} reserved at most."
        what = (
            f"Others need{wanted}, which does not fit beside the {in_use} that PyTorch has in use on a card of {card}"
        )
    yield RULE.finding(
        f"{what}; its cache is not the reason.",
        why=f"{why} {what_is_in_use(case)}".rstrip(),
        what_to_do=f"{_what_to_do(case)['what_to_do']} Look with nvidia-smi who else is on the card.",
        bytes=beside.active_bytes,
        confidence="certain" if not beside.has_failed else "likely" if beside.card_bytes else "unsure",
        measurements={
            "active_bytes": beside.active_bytes,
            "reserved_bytes": beside.reserved_bytes,
            "cached_bytes": beside.cached_bytes,
            "wanted_bytes": beside.wanted_bytes,
            "card_bytes": beside.card_bytes,
        },
    )
