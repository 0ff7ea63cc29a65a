"""Random programs for the allocator: script(profile, seed, release) gives the lines that the harness and our model run.

A profile stresses one part of the specification. Equal arguments give equal scripts. Sizes come mostly from a small
palette drawn per script, as programs repeat their sizes, or from the edges at which a decision changes; how eagerly
blocks are freed changes from phase to phase, so that memory fills, breaks up and empties again.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.differential.pool_scopes import PoolScopes

MIB, GIB = 1 << 20, 1 << 30
Release = tuple[int, int]

_EXPANDABLE = "expandable_segments:True"
_OUTSIDE = ("", "max_split_size_mb:21", "max_split_size_mb:40", _EXPANDABLE)

# Sizes at which a decision changes, or that leave a remainder of exactly 512 bytes or 1 MiB; and one byte to each side.
_EDGES = [512, MIB, 2 * MIB, 9 * MIB, 10 * MIB, 11 * MIB, 12 * MIB, 19 * MIB, 20 * MIB, 21 * MIB, 22 * MIB, 31 * MIB]
_EDGES += [39 * MIB, 40 * MIB, 41 * MIB, 60 * MIB, 61 * MIB, 62 * MIB]
_EDGE_SIZES = tuple(edge + step for edge in _EDGES for step in (-513, -512, -1, 0, 1, 512) if edge + step > 0)
# Sums of these often equal a threshold, a limit or another one exactly.
_MULTIPLES = tuple(range(20 * MIB, 180 * MIB, 20 * MIB))


@dataclass(frozen=True)
class Profile:
    """What the programs of one profile do."""

    capacity_bytes: int
    settings: tuple[str, ...] = ("",)  # one is chosen at the start
    reconfigures: bool = False  # and another one now and then
    fractions: tuple[float, ...] = ()  # memory fractions, likewise
    sizes: tuple[int, ...] = ()  # only these
    live_blocks_most: int = 200  # from here on more is freed than allocated
    records_streams: bool = False  # blocks are used by other streams, whose events may be late
    squeezes: bool = False  # others take memory of the card, and give it back
    pools: bool = False  # private pools and scopes
    since: Release = (2, 1)  # the first release that knows the settings


PROFILES = {
    "default": Profile(80 * GIB),
    "oom": Profile(600 * MIB, squeezes=True),
    "maxsplit": Profile(900 * MIB, ("max_split_size_mb:32", "max_split_size_mb:64", "max_split_size_mb:128")),
    "edges": Profile(600 * MIB, _OUTSIDE, sizes=_EDGE_SIZES, live_blocks_most=40),
    "roundup": Profile(
        80 * GIB,
        (
            "roundup_power2_divisions:1",
            "roundup_power2_divisions:4",
            "roundup_power2_divisions:[1:2,8:4,64:8,>:16]",
            "roundup_power2_divisions:[4:1,16:2,>:4]",
            "roundup_power2_divisions:[2:8,128:2]",
        ),
    ),
    "gc": Profile(
        1500 * MIB,
        (
            "garbage_collection_threshold:0.3",
            "garbage_collection_threshold:0.6",
            "garbage_collection_threshold:0.8,max_split_size_mb:64",
        ),
        fractions=(0.4, 0.7, 0.9, 1.0),
    ),
    "fraction": Profile(1500 * MIB, fractions=(0.4, 0.7, 0.9), squeezes=True),
    "multiples": Profile(
        800 * MIB,
        (
            "max_split_size_mb:40",
            "garbage_collection_threshold:0.5",
            "garbage_collection_threshold:0.25,max_split_size_mb:60",
            f"{_EXPANDABLE},max_split_size_mb:40",
        ),
        fractions=(0.5, 0.75, 1.0),
        sizes=_MULTIPLES,
        live_blocks_most=10,
    ),
    "expandable": Profile(600 * MIB, (_EXPANDABLE,), squeezes=True),
    "expandable-gc": Profile(
        1500 * MIB,
        (
            f"{_EXPANDABLE},garbage_collection_threshold:0.3",
            "garbage_collection_threshold:0.6,expandable_segments:False",
        ),
        reconfigures=True,
        fractions=(0.4, 0.7, 0.9),
    ),
    "streams": Profile(900 * MIB, ("", _EXPANDABLE), records_streams=True),
    "toggle": Profile(
        900 * MIB,
        (
            f"{_EXPANDABLE},max_split_size_mb:64",
            "expandable_segments:False,max_split_size_mb:64",
            "expandable_segments:False,roundup_power2_divisions:4",
        ),
        reconfigures=True,
        records_streams=True,
    ),
    "rounding": Profile(
        900 * MIB,
        (
            "max_split_size_mb:32,max_non_split_rounding_mb:40",
            "max_split_size_mb:64,max_non_split_rounding_mb:100",
        ),
        since=(2, 6),
    ),
    "largeseg": Profile(
        1500 * MIB,
        (
            "large_segment_size_mb:40",
            "large_segment_size_mb:12",
            f"large_segment_size_mb:64,{_EXPANDABLE}",
            "large_segment_size_mb:21,max_split_size_mb:50",
        ),
        since=(2, 11),
    ),
    "rejection": Profile(
        900 * MIB,
        (
            "throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.7",
            f"{_EXPANDABLE},throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5",
        ),
        squeezes=True,
        since=(2, 12),
    ),
    "pools": Profile(
        2 * GIB,
        ("", "max_split_size_mb:64", "garbage_collection_threshold:0.5"),
        fractions=(1.0, 0.9, 0.6),
        records_streams=True,
        pools=True,
    ),
    "pools-expandable": Profile(2 * GIB, (_EXPANDABLE,), records_streams=True, pools=True),
}


def script(profile_name: str, seed: int, release: Release, calls: int = 2000) -> list[str]:
    """The operations of one random program, at least `calls` of them, as lines for the harness."""
    return _Writer(PROFILES[profile_name], random.Random(f"{profile_name} {seed}"), release).write(calls)


class _Writer:
    """Writes one script. Invariant: `live` holds the blocks allocated and not yet freed (an allocation may fail)."""

    def __init__(self, profile: Profile, rng: random.Random, release: Release) -> None:
        self.profile, self.rng = profile, rng
        self.lines: list[str] = []
        self.live: list[str] = []
        self.palette = [self._fresh_size() for _ in range(12)]
        self.alloc_share = 0.5
        self.side_streams = [0, 1, 2, *rng.sample(range(3, 1000), 5)]
        self.used_elsewhere: set[str] = set()  # live blocks that other streams were said to use
        self.scopes = PoolScopes(rng, release) if profile.pools else None

    def write(self, calls: int) -> list[str]:
        self._configure()
        self._set_fraction()
        while len(self.lines) < calls:
            if len(self.lines) % 97 == 0:
                self.alloc_share = self.rng.choice((0.3, 0.45, 0.5, 0.6, 0.7))
            if self.rng.random() < 0.94:
                self._alloc_or_free()
            else:
                self._rare_operation()
            if len(self.lines) % 331 == 0:
                self.lines += ["snapshot", "stats"]
        return [*self.lines, "snapshot", "stats", "empty_cache", "snapshot", "stats"]

    def _alloc_or_free(self) -> None:
        share = self.alloc_share if len(self.live) < self.profile.live_blocks_most else 0.2
        if not self.live or self.rng.random() < share:
            self._alloc()
        else:
            self._free()

    def _alloc(self) -> None:
        block = f"b{len(self.lines)}"
        stream = self.rng.randint(0, 2) if self.rng.random() < 0.4 else 0
        self.lines.append(f"alloc {block} {self._size()} {stream}")
        self.live.append(block)
        if self.scopes:
            self.scopes.after_alloc()

    def _free(self) -> None:
        block = self.live.pop(self.rng.randrange(len(self.live)))
        may_wait = self.scopes is None or self.scopes.may_defer()
        if block in self.used_elsewhere and not may_wait:
            self.live.append(block)
            return
        if self.profile.records_streams and may_wait and self.rng.random() < 0.3:
            self._record_streams(block)
        self.lines.append(f"free {block}")
        if self.scopes and block in self.used_elsewhere:
            self.scopes.after_waiting_free()
        self.used_elsewhere.discard(block)

    def _record_streams(self, block: str) -> None:
        for stream in self.rng.sample(self.side_streams, self.rng.choice((1, 1, 1, 2, 4))):
            self.lines.append(f"record_stream {block} {stream}")
        self.used_elsewhere.add(block)

    def _record_early(self) -> None:
        """A block used by another stream long before it is freed; in a scope, only blocks about to be freed are."""
        if self.live and not (self.scopes and self.scopes.open):
            self._record_streams(self.rng.choice(self.live))

    def _rare_operation(self) -> None:
        """One of the operations, other than alloc and free, that the profile has."""
        options = [self._alloc_or_free, self._alloc_or_free, lambda: self.lines.append("empty_cache")]
        if self.profile.records_streams:
            options += 2 * [lambda: self.lines.append(f"pending {self.rng.randint(0, 1)}")]
            options.append(self._record_early)
        if self.profile.reconfigures:
            options.append(self._configure)
        if self.profile.fractions and self.rng.random() < 0.2:
            options.append(self._set_fraction)
        if self.profile.squeezes:
            options.append(self._squeeze)
        if self.scopes:
            options += 12 * [self._change_pools]
        self.rng.choice(options)()

    def _configure(self) -> None:
        settings = self.rng.choice(self.profile.settings)
        if settings:
            self.lines.append(f"config {settings}")

    def _set_fraction(self) -> None:
        if self.profile.fractions:
            self.lines.append(f"fraction {self.rng.choice(self.profile.fractions)}")

    def _squeeze(self) -> None:
        share = self.rng.choice((0.5, 0.8, 1.0, 1.0))
        self.lines.append(f"capacity {int(self.profile.capacity_bytes * share)}")

    def _change_pools(self) -> None:
        if self.scopes:
            self.lines += self.scopes.step()

    def _size(self) -> int:
        if self.profile.sizes:
            return self.rng.choice(self.profile.sizes)
        if self.rng.random() < 0.7:
            return self.rng.choice(self.palette)
        return self.rng.randint(1, self.rng.choice((600, 70_000, 2 * MIB, 30 * MIB)))

    def _fresh_size(self) -> int:
        low, high = self.rng.choice(
            [
                (1, 4096),
                (4096, MIB),
                (MIB, MIB + 3),
                (MIB, 10 * MIB),
                (10 * MIB - 1, 10 * MIB),
                (10 * MIB, 60 * MIB),
                (60 * MIB, 200 * MIB),
            ]
        )
        whole = self.rng.choice((2, 20, 40, 64)) * MIB
        return self.rng.choice((self.rng.randint(low, high), self.rng.randint(low, high), whole))
