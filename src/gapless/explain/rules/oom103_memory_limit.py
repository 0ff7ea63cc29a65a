"""OOM103 memory-limit: a memory fraction of the process, not the card, refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule
from gapless.explain.words import request_places, the_request
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Confidence, Finding
    from gapless.explain.refusal import Refusal

RULE = Rule(
    code="OOM103",
    name="memory-limit",
    severity="error",
    finds="The card had room for the request, but the process may not reserve so much: a memory fraction is set.",
    why="A fraction is easily forgotten: set by a launcher, a notebook, a serving framework, or"
    " per_process_memory_fraction in the settings. The card looks half empty and the job dies.",
    measured="The failure records the bytes that the card had free. Were they at least the segment that was asked for,"
    " the card did not refuse. The limit's value is not recorded: it lies between the most that was ever reserved and"
    " what was reserved plus the refused segment.",
    do="Raise or remove the fraction: torch.cuda.set_per_process_memory_fraction(1.0), or"
    " per_process_memory_fraction in PYTORCH_CUDA_ALLOC_CONF. If others need the room, make the job smaller.",
    links=("https://docs.pytorch.org/docs/stable/generated/torch.cuda.memory.set_per_process_memory_fraction.html",),
)
_ROUND_FRACTIONS = (20, 100)
"""Denominators of fractions that people set, the likeliest first."""


def find(case: Case) -> Iterator[Finding]:
    """An error when a limit refused and memory was full under it, or no hole is one that such a request may use; a
    warning when pieces were the cause as well."""
    refusal = case.refusal
    if refusal is None or not refusal.by_limit:
        return
    known, fragments = refusal.limit_is_known, case.fragments
    confidence: Confidence = "certain" if known or not refusal.cached_bytes else "likely"
    free = refusal.request.device_free_bytes
    no_other = "; no other allocator setting helps" if refusal.is_full_at_most else ""
    yield RULE.finding(
        f"{the_request(case, refusal)} was refused by a memory limit of the process, not by the card:"
        f" the card had {format_bytes(free)} free.",
        severity="error" if fragments is None or not fragments.own.count else "warning",
        why=f"{format_bytes(refusal.reserved_bytes)} were reserved, {format_bytes(refusal.active_bytes)} of them in"
        f" use; {_limit_in_words(refusal, known)}.",
        what_to_do="Raise or remove the fraction (torch.cuda.set_per_process_memory_fraction, or"
        f" per_process_memory_fraction in the settings){no_other}.",
        besides="",
        names_settings=True,
        bytes=free,
        confidence=confidence,
        measurements={
            "rounded_bytes": refusal.request.rounded_bytes,
            "segment_bytes": refusal.request.segment_bytes,
            "device_free_bytes": free,
            "reserved_bytes": refusal.reserved_bytes,
            "active_bytes": refusal.active_bytes,
            "limit_bytes_least": refusal.limit_bytes_least,
            "limit_bytes_most": refusal.limit_bytes_most,
            "fraction_guess": _fraction(refusal),
        },
        places=request_places(case, refusal),
    )


def _limit_in_words(refusal: Refusal, known: bool) -> str:
    if known:
        return f"the limit is {format_bytes(refusal.limit_bytes_least)}"
    between = (
        f"the limit lies between {format_bytes(refusal.limit_bytes_least)} and {format_bytes(refusal.limit_bytes_most)}"
    )
    fraction = _fraction(refusal)
    if refusal.is_full and not refusal.is_full_at_most:
        between += " (where in between decides whether all that is free would do, in one piece)"
    return f"{between}, about {fraction:g} of the card" if fraction else between


def _fraction(refusal: Refusal) -> float | None:
    """The only round fraction of the card that gives such a limit, taking the card to hold nothing else; None where
    several do, or none."""
    card = refusal.reserved_bytes + refusal.request.device_free_bytes
    least, most = refusal.limit_bytes_least, refusal.limit_bytes_most
    for parts in _ROUND_FRACTIONS:
        found = [part / parts for part in range(1, parts) if least <= part * card // parts <= most]
        if found:
            return found[0] if len(found) == 1 else None
    return None
