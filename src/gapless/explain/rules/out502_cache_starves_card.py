"""OUT502 cache-starves-card: PyTorch's cache holds what NCCL, cuBLAS or another allocator needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gapless.explain.rule import Rule
from gapless.explain.words import alternative, percent
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding
    from gapless.explain.others_on_card import Beside

RULE = Rule(
    code="OUT502",
    name="cache-starves-card",
    severity="error",
    finds="A library beside PyTorch (NCCL, cuBLAS, cuDNN, another framework) ran out of memory while PyTorch kept much"
    " memory cached that it did not use.",
    why="PyTorch gives its cache back only when it needs memory itself. Others get what the card has left, so more"
    " cache makes it worse: the cure is a bound on what PyTorch reserves.",
    measured="A log says that the library failed (--log); the recording, at its end, says how much PyTorch had reserved"
    " and not in use. The cache is at fault when it has at least 256 MiB, would have held what the library asked"
    " for, and is more than what else was left on the card or a quarter of it (of what was reserved, where the card's"
    " size is not told: --recorded-card). Or nothing failed, and --leave-free says what others need: then the most that"
    " PyTorch reserved is held"
    " against the card (--card), and the most that was in use.",
    do="Bound PyTorch with torch.cuda.set_per_process_memory_fraction, as low as the job allows: gapless tune finds"
    " the bound by replay and says what it costs in retries. Or make the library's memory first (init NCCL before the"
    " model), or call torch.cuda.empty_cache() before it is needed.",
)


def find(case: Case) -> Iterator[Finding]:
    """An error when somebody else failed, or will, and the cache given back would be enough."""
    beside = case.beside
    if beside is None or not beside.is_starved_by_cache:
        return
    share = beside.cached_bytes / max(beside.reserved_bytes, 1)
    yield RULE.finding(
        _what(case, beside),
        why=f"{format_bytes(beside.reserved_bytes)} were reserved{'' if beside.has_failed else ' at most'} and"
        f" {format_bytes(beside.active_bytes)} of it in use ({percent(share)} idle). Others cannot use PyTorch's"
        " cache.",
        **_what_to_do(case, beside),
        bytes=beside.cached_bytes,
        confidence="likely" if case.options.outside_is_sure and (beside.card_bytes or share >= 0.5) else "unsure",
        measurements={
            "cached_bytes": beside.cached_bytes,
            "reserved_bytes": beside.reserved_bytes,
            "active_bytes": beside.active_bytes,
            "cached_share": round(share, 4),
            "wanted_bytes": beside.wanted_bytes,
            "card_bytes": beside.card_bytes,
        },
    )


def _what(case: Case, beside: Beside) -> str:
    cached = format_bytes(beside.cached_bytes)
    wanted = "" if beside.wanted_bytes is None else format_bytes(beside.wanted_bytes)
    if not beside.has_failed:
        return (
            f"Others need {wanted}, and PyTorch leaves them {format_bytes(beside.room_bytes)} of the"
            f" {format_bytes(beside.card_bytes or 0)}: {cached} of what it reserves are never in use."
        )
    how = "ran out of memory" if case.options.outside_is_sure else "failed in a way that a full card causes,"
    asked = f" (it asked for {wanted})" if wanted else ""
    return f"{beside.who} {how}{asked} while PyTorch kept {cached} cached and unused."


def _what_to_do(case: Case, beside: Beside) -> dict[str, Any]:
    """The advice, and what of it is about the program."""
    if beside.fits_beside is False:
        peak = format_bytes(int(case.recording.curves["active"].max()))
        return {
            "what_to_do": "Call torch.cuda.empty_cache() right before the library needs memory. A bound on PyTorch does"
            f" not help: it has had {peak} in use, which does not fit beside what the library wants."
        }
    besides = "Call torch.cuda.empty_cache() before the library needs memory, or let it take its memory first."
    bound = "Bound PyTorch with a memory fraction (gapless tune --card --leave-free finds one by replay)."
    return {"what_to_do": f"{bound} {alternative(besides)}", "besides": besides, "names_settings": True}
