"""FRAG204 rounding: bytes lost inside blocks, because blocks are larger than what was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.rule import Rule
from gapless.explain.words import percent, request_places, the_request
from gapless.units import MIB, format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="FRAG204",
    name="rounding",
    severity="warning",
    finds="Blocks in use are larger than what was asked for, by much in sum.",
    why="These bytes count as allocated, so no figure of PyTorch shows them as free. They come from"
    " roundup_power2_divisions, from blocks that max_split_size_mb leaves whole, from pools that never split"
    " (MemPool with no_split), or from very many tiny tensors, each rounded up to 512 bytes.",
    measured="Over all blocks in use at the moment: the size of the block less the bytes requested. Speaks from 5 % of"
    " the memory in use and 64 MiB on. It is the error when a request failed for want of memory and would have been"
    " served without the rounding.",
    do="Use more divisions or none (roundup_power2_divisions), a smaller max_non_split_rounding_mb, or split in the"
    " pool. gapless tune replays what each gains.",
)
_LEAST_SHARE, _LEAST_BYTES = 0.05, 64 * MIB


def find(case: Case) -> Iterator[Finding]:
    """An error when the failed request would fit without rounding; else a warning where much is lost."""
    lost = case.sizes - case.state.blocks["requested"].astype(np.int64)
    lost[case.is_free] = 0
    total, active = int(lost.sum()), max(case.facts.active_bytes, 1)
    refusal = case.refusal
    decides = refusal is not None and refusal.is_full and refusal.would_fit(active - total, refusal.limit_bytes_least)
    if not decides and (total < _LEAST_SHARE * active or total < _LEAST_BYTES):
        return
    lossy = lost > 0
    message = f"{format_bytes(total)} of the memory in use ({percent(total / active)}) are lost to rounding."
    yield RULE.finding(
        f"{the_request(case, refusal)} failed; {message}" if decides and refusal else message,
        severity="error" if decides else "warning",
        why=f"{int(lossy.sum()):,} blocks are larger than what was asked for, {_because(case)}.",
        what_to_do=_what_to_do(case),
        bytes=total,
        measurements={
            "lost_bytes": total,
            "active_bytes": case.facts.active_bytes,
            "lost_share": round(total / active, 4),
            "blocks": int(lossy.sum()),
            "largest_loss_bytes": int(lost.max(initial=0)),
            "private_pool_lost_bytes": int(lost[_in_private_pools(case)].sum()),
        },
        places=request_places(case, refusal) if refusal else (),
    )


def _in_private_pools(case: Case) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    private: np.ndarray[tuple[int], np.dtype[np.bool_]] = case.state.segments["pool"][case.state.segment_of_block] != 0
    return private


def _because(case: Case) -> str:
    settings = case.recording.settings
    if any(division > 1 for division in settings.roundup_power2_divisions):
        return "since roundup_power2_divisions rounds requests up"
    if settings.max_split_size is not None:
        return "since blocks over max_split_size_mb are not split"
    return "each by a little (small tensors are rounded to 512 bytes), or in a pool that does not split"


def _what_to_do(case: Case) -> str:
    settings = case.recording.settings
    if any(division > 1 for division in settings.roundup_power2_divisions):
        return "Use more divisions, or leave roundup_power2_divisions out; gapless tune replays what that gains."
    if settings.max_split_size is not None:
        return "Lower max_non_split_rounding_mb, or raise max_split_size_mb; gapless tune replays what that gains."
    return "Put many small tensors into one, or let the pool split its blocks."
