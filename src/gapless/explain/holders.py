"""Who holds the memory in use: by place (the reader's own line) and by kind, the largest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.finding import KINDS, Holder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case


def holders_of(case: Case) -> tuple[Holder, ...]:
    """Every group of blocks in use of one place and one kind."""
    used = np.flatnonzero(~case.is_free)
    if not len(used):
        return ()
    stacks, sizes = case.block_stacks[used], case.sizes[used]
    key = case.stacks.place_of(stacks) * len(KINDS) + case.kinds[used]
    groups, group = np.unique(key, return_inverse=True)
    totals = np.bincount(group, weights=sizes).astype(np.int64)
    counts = np.bincount(group)
    largest = _largest_stacks(group, stacks, sizes, len(groups))
    order = np.argsort(-totals, kind="stable")[: case.options.places]
    return tuple(
        Holder(
            place=case.stacks.stack(int(largest[row])),
            at=case.stacks.place(int(largest[row])),
            kind=KINDS[int(groups[row]) % len(KINDS)],
            bytes=int(totals[row]),
            blocks=int(counts[row]),
        )
        for row in order
    )


def _largest_stacks(
    group: NDArray[np.int64], stacks: NDArray[np.uint32], sizes: NDArray[np.int64], count: int
) -> NDArray[np.uint32]:
    """For each group the stack that holds most of it."""
    pair = group.astype(np.int64) << 32 | stacks.astype(np.int64)
    pairs, of = np.unique(pair, return_inverse=True)
    weight = np.bincount(of, weights=sizes)
    found = np.zeros(count, dtype=np.uint32)
    order = np.argsort(weight, kind="stable")  # the heaviest is written last
    found[pairs[order] >> 32] = (pairs[order] & 0xFFFFFFFF).astype(np.uint32)
    return found
