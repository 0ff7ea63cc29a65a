"""OUT501 outside-pytorch: another process, the context or a library holds what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.could_have import could_have
from gapless.explain.rule import Rule
from gapless.explain.words import request_places, the_request
from gapless.units import MIB, format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="OUT501",
    name="outside-pytorch",
    severity="error",
    finds="PyTorch could have less of the card than the card has: another process, the CUDA context, NCCL or another"
    " library holds the rest, and with it the request would have been served.",
    why="PyTorch's own numbers look harmless then, and no setting of its allocator brings the memory back.",
    measured="At the failing request: what was reserved plus what the card had free is all that PyTorch could have."
    " That is held against the card that the run was recorded on, where its size is told (--recorded-card, or PyTorch's"
    " message in a --log), or against the most that PyTorch itself had or could have had earlier in"
    " the same recording. Without either nothing is said: a recording alone does not tell how large the card is. Where"
    " a log says that a library failed (--log), what it asked for is held against the card less what PyTorch had.",
    do="Look who is on the card (nvidia-smi), end what is left over from earlier runs, give each process a card of its"
    " own, and count in about half a GiB for each process's context and some more for NCCL.",
)
_LEAST_BYTES = 256 * MIB
_LEAST_SHARE = 0.05


def find(case: Case) -> Iterator[Finding]:
    """An error when the request would have been served with all of the card; else a warning."""
    refusal = case.refusal
    if refusal is None:
        yield from _as_a_library_shows(case)
        return
    if refusal.by_limit:
        return
    had = could_have(case, refusal)
    known, source = had.bytes, _EARLIER if had.is_recorded else "of a card with room for"
    outside = known - refusal.limit_bytes_least
    decides = refusal.is_full and refusal.would_fit(refusal.active_bytes, known)
    if outside < max(_LEAST_BYTES, _LEAST_SHARE * known) and not (
        # Asked for more than is left of what it had: no other reason is needed, however little others took.
        decides and had.is_recorded and refusal.request.segment_bytes > refusal.limit_bytes_most
    ):
        return
    held = f"{format_bytes(outside)} of the card are held outside PyTorch"
    yield RULE.finding(
        f"{the_request(case, refusal)} failed because {held}." if decides else f"{held}.",
        severity="error" if decides else "warning",
        why=f"PyTorch could have {format_bytes(refusal.limit_bytes_least)} in all (reserved and free on the card),"
        f" {source} {format_bytes(known)}; {format_bytes(refusal.active_bytes)} were in use.",
        what_to_do="Look with nvidia-smi for other processes on the card and end them, or plan with less memory."
        " No allocator setting brings it back.",
        bytes=outside,
        confidence="certain" if had.is_recorded else "likely",
        measurements={
            "outside_bytes": outside,
            "card_bytes": known,
            "limit_bytes": refusal.limit_bytes_least,
            "device_free_bytes": refusal.request.device_free_bytes,
            "reserved_bytes": refusal.reserved_bytes,
            "active_bytes": refusal.active_bytes,
            "rounded_bytes": refusal.request.rounded_bytes,
        },
        places=request_places(case, refusal),
    )


_EARLIER = "although earlier in this recording it could have"


def _as_a_library_shows(case: Case) -> Iterator[Finding]:
    """A library did not get what the card has beside PyTorch, so others hold it."""
    beside = case.beside
    if beside is None or beside.is_starved_by_cache:
        return
    if beside.outside_bytes < max(_LEAST_BYTES, _LEAST_SHARE * (beside.card_bytes or 0)):
        return
    wanted = "memory" if beside.wanted_bytes is None else format_bytes(beside.wanted_bytes)
    is_sure = case.options.outside_is_sure and beside.wanted_bytes is not None
    free = "was probably not free either" if is_sure else "may not have been free either"
    yield RULE.finding(
        f"{beside.who} did not get {wanted}, and {'at least' if is_sure else 'perhaps'}"
        f" {format_bytes(beside.outside_bytes)} of the card are held outside PyTorch.",
        why=f"PyTorch had {format_bytes(beside.reserved_bytes)} reserved of a card with room for"
        f" {format_bytes(beside.card_bytes or 0)}; the rest {free}.",
        what_to_do="Look with nvidia-smi for other processes on the card and end them, or plan with less memory.",
        bytes=beside.outside_bytes,
        confidence="likely" if is_sure else "unsure",
        measurements={
            "outside_bytes": beside.outside_bytes,
            "card_bytes": beside.card_bytes,
            "reserved_bytes": beside.reserved_bytes,
            "active_bytes": beside.active_bytes,
            "wanted_bytes": beside.wanted_bytes,
        },
    )
