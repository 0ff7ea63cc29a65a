"""A card to try the allocator on by hand, with names for what has addresses.

Segments are named in order of creation, S0, S1, ...; "S0+512" is an address inside one. Reservations of expandable
segments are named R0, R1, ...; they lie 1 GiB apart on small cards.
"""

from __future__ import annotations

from typing import Any

from gapless import _core, conf
from gapless.recording import to_core
from gapless.units import GIB

RESERVATIONS = 0x600000000000
SEGMENTS = 0x700000000000
Release = tuple[int, int]
ALL_RELEASES: list[Release] = [(2, minor) for minor in range(1, 15)]


class Card:
    """A simulated card with one allocator; blocks are named, and decisions are told with named addresses."""

    def __init__(self, release: Release, capacity: int = 80 * GIB, settings: str = "") -> None:
        self.release = release
        self.allocator = _core.Allocator(*release, capacity)
        self.settings = conf.Settings()
        self.blocks: dict[str, int] = {}
        self.segments: list[int] = []
        if settings:
            self.configure(settings)

    def configure(self, text: str) -> None:
        parsed = conf.parse(text, conf.Release(*self.release), self.settings)
        assert not parsed.problems
        self.settings = parsed.settings
        self.allocator.configure(to_core(self.settings))

    def malloc(self, name: str, size: int, stream: int = 0) -> list[tuple[Any, ...]]:
        self.blocks[name] = self.allocator.malloc(size, stream)
        return self.decisions()

    def free(self, *names: str) -> list[tuple[Any, ...]]:
        for name in names:
            self.allocator.free(self.blocks.pop(name))
        return self.decisions()

    def empty_cache(self) -> list[tuple[Any, ...]]:
        self.allocator.empty_cache()
        return self.decisions()

    def decisions(self) -> list[tuple[Any, ...]]:
        """(action, named address, size) of each decision since the last call; the address of an oom is left out."""
        told: list[tuple[Any, ...]] = []
        for action, address, size, _, _ in self.allocator.take_events():
            if action == "segment_alloc" and address not in self.segments:
                self.segments.append(address)
            told.append((action, size) if action == "oom" else (action, self.name_of(address), size))
        return told

    def name_of(self, address: int) -> str:
        if address < SEGMENTS:
            return f"R{(address - RESERVATIONS) // GIB}+{(address - RESERVATIONS) % GIB}"
        start = max(segment for segment in self.segments if segment <= address)
        return f"S{self.segments.index(start)}+{address - start}"

    def segment_blocks(self) -> list[list[str]]:
        """The blocks of each segment: size, and of those in use the bytes asked for."""
        segments: list[list[str]] = []
        for _, size, requested, state, _, _, _, _, starts_segment in self.allocator.snapshot():
            if starts_segment:
                segments.append([])
            segments[-1].append(f"{size} free" if state == "-" else f"{size}/{requested}")
        return segments

    def stat(self, name: str) -> tuple[int, ...]:
        """Current, peak, sum of increases and of decreases, of all pools."""
        value = self.allocator.stats()[name]
        return tuple(value[0]) if isinstance(value[0], tuple) else tuple(value)

    def count(self, name: str) -> int:
        return int(self.allocator.stats()[name])
