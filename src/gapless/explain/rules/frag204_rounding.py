"""FRAG204 rounding: bytes lost inside blocks, because blocks are larger than what was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rounding import NOTABLE_SHARE
from gapless.explain.rule import Rule
from gapless.explain.words import percent, request_places, the_request
from gapless.units import MIB, format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding
    from gapless.explain.rounding import Rounding

RULE = Rule(
    code="FRAG204",
    name="rounding",
    severity="warning",
    finds="Blocks in use are larger than what was asked for, by much in sum.",
    why="These bytes count as allocated, so no figure of PyTorch shows them as free. They come from"
    " roundup_power2_divisions, from blocks that max_split_size_mb leaves whole, from pools that never split"
    " (MemPool with no_split), or from very many tiny tensors, each rounded up to 512 bytes.",
    measured="Over all blocks in use at the moment: the size of the block less the bytes requested. Speaks from 5 % of"
    " the memory in use and 64 MiB on. It is the error when 5 % or more are lost, a request failed for want of memory,"
    " and it would have been served without the loss.",
    do="Use more divisions or none (roundup_power2_divisions), a smaller max_non_split_rounding_mb, or split in the"
    " pool. gapless tune replays what each gains.",
)
_LEAST_BYTES = 64 * MIB
_OF_SMALL_TENSORS = 512
"""Bytes that rounding to 512 costs a tensor at most."""


def find(case: Case) -> Iterator[Finding]:
    """An error when the failed request would fit without rounding; else a warning where much is lost."""
    lost, refusal, active = case.rounding, case.refusal, max(case.facts.active_bytes, 1)
    if not lost.decides and (lost.bytes < NOTABLE_SHARE * active or lost.bytes < _LEAST_BYTES):
        return
    message = f"{format_bytes(lost.bytes)} of the memory in use ({percent(lost.bytes / active)}) are lost to rounding."
    because, what_to_do, besides = _cause(case, lost)
    yield RULE.finding(
        f"{the_request(case, refusal)} failed; {message}" if lost.decides and refusal else message,
        severity="error" if lost.decides else "warning",
        why=f"{lost.blocks:,} blocks are larger than what was asked for, {because}.",
        what_to_do=what_to_do,
        besides=besides,
        names_settings=besides is not None,
        bytes=lost.bytes,
        measurements={
            "lost_bytes": lost.bytes,
            "active_bytes": case.facts.active_bytes,
            "lost_share": round(lost.bytes / active, 4),
            "blocks": lost.blocks,
            "largest_loss_bytes": lost.largest_bytes,
            "private_pool_lost_bytes": lost.private_pool_bytes,
        },
        places=request_places(case, refusal) if refusal else (),
    )


def _cause(case: Case, lost: Rounding) -> tuple[str, str, str | None]:
    """Why blocks are larger, what to do about it, and what of that is about the program (None: all)."""
    settings = case.recording.settings
    if any(division > 1 for division in settings.roundup_power2_divisions):
        return (
            "since roundup_power2_divisions rounds requests up",
            "Use more divisions, or leave roundup_power2_divisions out; gapless tune replays what that gains.",
            "",
        )
    if settings.max_split_size is not None:
        return (
            "since blocks over max_split_size_mb are not split",
            "Lower max_non_split_rounding_mb, or raise max_split_size_mb; gapless tune replays what that gains.",
            "",
        )
    if lost.unsplit_bytes > lost.bytes / 2:
        pool = "a private pool that does not split" if lost.private_pool_bytes > lost.bytes / 2 else "whole segments"
        return (
            f"up to {format_bytes(lost.largest_bytes)} each: they lie in {pool}, one tensor in each segment",
            "Let the pool split its blocks (make the MemPool without no_split), or put many tensors into one.",
            None,
        )
    if lost.bytes > _OF_SMALL_TENSORS * lost.blocks:
        return (
            "each by up to 1 MiB, the rest of a segment that is too small to be split off",
            "Let segments grow (expandable_segments:True), or ask for sizes a little below a multiple of 2 MiB.",
            "Ask for sizes a little below a multiple of 2 MiB.",
        )
    return "each by a little: small tensors are rounded up to 512 bytes", "Put many small tensors into one.", None
