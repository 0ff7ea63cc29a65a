"""The private-pool operations of a random program: pools made, opened, shared, released.

Programs stay within what PyTorch's own Python does, and what it answers with an error that changes nothing. Left out,
because what follows depends on heap addresses or on a counter that is wrong for good:
- from 2.9 on, several frees that wait for the end of a capture (kept in a table keyed by address);
- releasing a pool more often than it was opened;
- an overflow pool that is no longer in use;
- up to 2.2, a second scope while one is open (they belong to streams there), and opening what cannot be opened.
"""

from __future__ import annotations

import random

_OVERFLOW_POOLS = (4, 30)
_POOLS = [pool for pool in range(1, 61) if pool not in _OVERFLOW_POOLS]


class PoolScopes:
    """Which pools are in use and which scopes are open; step() is the next thing that happens to them."""

    def __init__(self, rng: random.Random, release: tuple[int, int]) -> None:
        self.rng, self.release = rng, release
        self.uses: dict[int, int] = {}  # how often each pool may still be released
        self.retired: list[int] = []  # released for good; the library deletes them when they are empty
        self.fresh = rng.sample(_POOLS, len(_POOLS))
        self.open: list[int] = []
        self.has_overflow = False
        self.capturing = False
        self.deferred = False  # a free waits for the end of the capture

    def step(self) -> list[str]:
        """The lines of one operation, or of a few that belong together."""
        steps = [self._begin, self._begin, self._end, self._end, self._end, self._release, self._release]
        if self.release >= (2, 3):
            steps.append(self._revive)
        if self.release >= (2, 6):
            steps.append(self._create)
        if self.release >= (2, 8):
            steps += [self._empty] if self.has_overflow else [self._make_overflow]
        if self.release >= (2, 10):
            steps.append(self._no_split)
        return self.rng.choice(steps)()

    def _defers(self) -> bool:
        """Whether a free of a block that other streams use is put off: up to 2.12 any scope counts as a capture."""
        return self.capturing if self.release >= (2, 13) else bool(self.open)

    def may_defer(self) -> bool:
        """Whether such a free may be made now."""
        return self.release < (2, 9) or not (self._defers() and self.deferred)

    def after_waiting_free(self) -> None:
        """A block that other streams use was freed."""
        self.deferred = self.deferred or self._defers()

    def after_alloc(self) -> None:
        """Something was allocated: what a capture had put off is taken up, once it is over."""
        self.deferred = self.deferred and self._defers()

    def _begin(self) -> list[str]:
        if len(self.open) >= (1 if self.release < (2, 3) else 3):
            return self._end()
        pool = self._some_pool(but=self.open)
        self.open.append(pool)
        lines = [f"pool_begin {pool}"]
        if self.release >= (2, 13) and not self.capturing and self.rng.random() < 0.3:
            self.capturing = True  # only since 2.13 does the allocator tell a capture from a mere scope
            lines.append("capturing 1")
        return lines

    def _end(self) -> list[str]:
        if not self.open:
            return []
        last_opened = self.rng.random() < 0.8
        pool = self.open.pop(-1 if last_opened else self.rng.randrange(len(self.open)))
        lines = [f"pool_end {pool}"]
        if self.capturing:
            self.capturing = False
            lines.append("capturing 0")
        return lines

    def _create(self) -> list[str]:
        return [f"pool_create {self._some_pool()}"]

    def _release(self) -> list[str]:
        releasable = [pool for pool in self.uses if pool not in self.open and pool not in _OVERFLOW_POOLS]
        if not releasable:
            return []
        pool = self.rng.choice(releasable)
        self.uses[pool] -= 1
        if not self.uses[pool]:
            del self.uses[pool]
            self.retired.append(pool)
        return [f"pool_release {pool}"]

    def _revive(self) -> list[str]:
        """Open a released pool again: an error while it still holds memory, else a new pool, kept for ever."""
        if not self.retired or self.open:
            return []
        pool = self.retired.pop(self.rng.randrange(len(self.retired)))
        return [f"pool_begin {pool}", f"alloc revived{pool} 3000000 0", f"pool_end {pool}"]

    def _empty(self) -> list[str]:
        return [f"pool_empty_cache {self.rng.choice(self.retired or _POOLS)}"]

    def _no_split(self) -> list[str]:
        return [f"pool_no_split {self._some_pool(use=False)}"] if self.rng.random() < 0.3 else []

    def _make_overflow(self) -> list[str]:
        self.has_overflow = True
        self.uses.update(dict.fromkeys(_OVERFLOW_POOLS, 1))
        return [line for pool in _OVERFLOW_POOLS for line in (f"pool_create {pool}", f"pool_use_on_oom {pool}")]

    def _some_pool(self, but: list[int] | None = None, use: bool = True) -> int:
        """A pool in use, or one that never was; counted as used once more."""
        known = [pool for pool in self.uses if pool not in (but or [])]
        pool = self.rng.choice(known) if known and (self.rng.random() < 0.6 or not self.fresh) else self.fresh.pop()
        if use:
            self.uses[pool] = self.uses.get(pool, 0) + 1
        return pool
