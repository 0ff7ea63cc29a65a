"""FRAG203 private-pool: the memory is free, but in the pool of a CUDA graph or a MemPool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.free_elsewhere import Others, found_elsewhere
from gapless.explain.rule import Rule

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding
    from gapless.explain.fragments import Fragments

RULE = Rule(
    code="FRAG203",
    name="private-pool",
    severity="error",
    finds="The free bytes that would hold a request lie in a pool that the request may not use: that of a CUDA graph"
    " or of a torch.cuda.MemPool, or the default pool when a request inside such a scope fails.",
    why="Pools never share. A captured graph keeps its memory for every replay; a pool in use is not given back even"
    " when the card is full, and nothing outside can use it.",
    measured="At the failing request: free blocks of the request's size class in pools other than its own. A hole"
    " there would hold it; or, with none that does, most free bytes lie there.",
    do="Share one pool between graphs (pool=other_graph.pool()), capture the largest shape first, drop graphs and"
    " MemPools that are done with, or make a MemPool with use_on_oom=True (2.8 and later). For a request inside a pool:"
    " capture before the default pool takes the card, or allocate outside the pool.",
    links=("https://docs.pytorch.org/docs/stable/notes/cuda.html#graph-memory-management",),
)

_OF_PRIVATE_POOLS = (
    "Share one pool between graphs, drop graphs or pools that are done with, or give the MemPool use_on_oom=True."
)
_BETWEEN_PRIVATE_POOLS = (
    "Let both use one pool (pool=other_graph.pool(), or the same MemPool), or drop the graph or pool that is done with."
)
_INTO_A_PRIVATE_POOL = (
    "Capture, or fill the MemPool, before the default pool takes the card; free what keeps the default pool's segment"
    " from being returned; or allocate this tensor outside the pool."
)


def find(case: Case) -> Iterator[Finding]:
    """An error when other pools are the cause."""
    fragments = case.fragments
    if fragments is None or fragments.cause != "pool":
        return
    is_default = fragments.refusal.request.pool == 0
    mine = "the default pool" if is_default else "a private pool"
    others = Others(
        name="other_pools",
        pieces=fragments.other_pools,
        holds="private pools" if is_default else "other pools",
        asked=f" in {mine}",
        rule_of_sharing=f"Pools do not share memory (CUDA graphs and MemPools have their own); {mine}",
    )
    yield found_elsewhere(
        RULE,
        case,
        fragments,
        others,
        what_to_do=_OF_PRIVATE_POOLS if is_default else _in_private_pool(case, fragments),
    )


def _in_private_pool(case: Case, fragments: Fragments) -> str:
    """Advice for a request inside a pool; by where the largest hole is."""
    block = fragments.other_pools.largest_block
    if block >= 0 and case.state.segments["pool"][case.state.segment_of_block[block]] == 0:
        return _INTO_A_PRIVATE_POOL
    return _BETWEEN_PRIVATE_POOLS
