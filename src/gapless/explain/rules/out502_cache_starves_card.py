"""OUT502 cache-starves-card: PyTorch's cache holds what NCCL, cuBLAS or another allocator needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule
from gapless.explain.words import percent
from gapless.units import MIB, format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="OUT502",
    name="cache-starves-card",
    severity="error",
    finds="A library beside PyTorch (NCCL, cuBLAS, cuDNN, another framework) ran out of memory while PyTorch kept much"
    " memory cached that it did not use.",
    why="PyTorch gives its cache back only when it needs memory itself. Others get what the card has left, so more"
    " cache makes it worse: the cure is a bound on what PyTorch reserves.",
    measured="A log says that the library failed; the recording, at its end, says how much PyTorch had reserved and not"
    " in use.",
    do="Bound PyTorch with torch.cuda.set_per_process_memory_fraction, as low as the job allows: gapless tune finds"
    " the bound by replay and says what it costs in retries. Or make the library's memory first (init NCCL before the"
    " model), or call torch.cuda.empty_cache() before it is needed.",
)
_LEAST_BYTES = 256 * MIB


def find(case: Case) -> Iterator[Finding]:
    """An error when somebody else failed and the cache is large enough to matter."""
    who = case.options.outside_failure
    cached = case.facts.reserved_bytes - case.facts.active_bytes
    if who is None or case.refusal is not None or cached < _LEAST_BYTES:
        return
    share = cached / max(case.facts.reserved_bytes, 1)
    yield RULE.finding(
        f"{who} ran out of memory while PyTorch kept {format_bytes(cached)} cached and unused.",
        why=f"{format_bytes(case.facts.reserved_bytes)} were reserved and {format_bytes(case.facts.active_bytes)} of it"
        f" in use ({percent(share)} idle). Others cannot use PyTorch's cache.",
        what_to_do="Bound PyTorch with a memory fraction (gapless tune finds one by replay), or call"
        " torch.cuda.empty_cache() before the library needs memory.",
        bytes=cached,
        confidence="likely",
        measurements={
            "cached_bytes": cached,
            "reserved_bytes": case.facts.reserved_bytes,
            "active_bytes": case.facts.active_bytes,
            "cached_share": round(share, 4),
        },
    )
