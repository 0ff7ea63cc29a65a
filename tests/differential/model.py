"""Runs scripts on our allocator, and prints what it does as harness.cpp does for the real one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gapless import _core, conf
from gapless.recording import to_core

_SERVED, _OUT_OF_MEMORY = 0, -1
_POOLS = ("all", "small_pool", "large_pool")
_STATS_SINCE = {
    "num_sync_all_streams": (2, 3),
    "num_device_alloc": (2, 3),
    "num_device_free": (2, 3),
    "num_oom_rejections": (2, 12),
    "reserved_bytes_by_private_pools": (2, 13),
}
_HANDLE_STEP = 16  # stream N of a script is the handle 16 * N, as in the harness; handles decide orders
_STATES = {"A": "live", "P": "pending", "-": "free"}


class Run(NamedTuple):
    """What our allocator did: lines as the harness prints them, and the operations that were done.

    `undefined`: the next operation, which was not done, is one in which PyTorch's own memory goes wrong.
    """

    lines: list[str]
    operations: list[str]
    undefined: bool


def run(lines: list[str], release: tuple[int, int], capacity_bytes: int) -> Run:
    """What our allocator does; it stops before an operation after which PyTorch's own behaviour is undefined."""
    program = _Program(release, capacity_bytes)
    printed: list[str] = []
    for done, line in enumerate(lines):
        words = line.split()
        decided = program.step(words[0], words[1:])
        if program.allocator.undefined:
            return Run(printed, lines[:done], True)
        printed.append(f"> {line}")
        printed += decided
    return Run(printed, lines, False)


class _Program:
    """One allocator and the blocks that a script has named."""

    def __init__(self, release: tuple[int, int], capacity_bytes: int) -> None:
        self.release = release
        self.allocator = _core.Allocator(*release, capacity_bytes)
        self.settings = conf.Settings()
        self.blocks: dict[str, int] = {}

    def step(self, name: str, arguments: list[str]) -> list[str]:
        """Do one operation; the lines it prints."""
        if name == "snapshot":
            return list(self._snapshot())
        if name == "stats":
            return list(self._stats())
        if name.startswith("pool_"):
            call: Callable[[int], bool | None] = getattr(self.allocator, name)
            succeeded = call(int(arguments[0]))
        else:
            succeeded = getattr(self, f"_{name}")(*arguments)
        events = [self._event(*event) for event in self.allocator.take_events()]
        return events if succeeded in (None, True) else [*events, "error"]

    def _alloc(self, name: str, size: str, stream: str) -> bool:
        placed = self.allocator.malloc(int(size), int(stream) * _HANDLE_STEP)
        if placed >= _SERVED:
            self.blocks[name] = placed
        return placed >= _OUT_OF_MEMORY

    def _free(self, name: str) -> None:
        if name in self.blocks:
            self.allocator.free(self.blocks.pop(name))

    def _record_stream(self, name: str, stream: str) -> None:
        if name in self.blocks:
            self.allocator.record_stream(self.blocks[name], int(stream) * _HANDLE_STEP)

    def _pending(self, pending: str) -> None:
        self.allocator.set_events_pending(pending == "1")

    def _capturing(self, capturing: str) -> None:
        self.allocator.set_capturing(capturing == "1")

    def _empty_cache(self) -> bool:
        return self.allocator.empty_cache()

    def _fraction(self, fraction: str) -> None:
        self.allocator.set_memory_fraction(float(fraction))

    def _capacity(self, capacity_bytes: str) -> None:
        self.allocator.set_capacity(int(capacity_bytes))

    def _config(self, text: str) -> None:
        self.settings = conf.parse(text, conf.Release(*self.release), self.settings).settings
        self.allocator.configure(to_core(self.settings))

    def _event(self, action: str, address: int, size: int, stream: int, pool: int) -> str:
        shown = f" pool=0,{pool}" if pool and self.release >= (2, 8) else ""  # earlier traces do not tell
        return f"{action} addr={address:x} size={size} stream={stream // _HANDLE_STEP}{shown}"

    def _snapshot(self) -> Iterator[str]:
        """One line for each run of mapped blocks, in order of address."""
        segments: list[list[tuple[int, int, int, str, int, int, bool, bool, bool]]] = []
        for block in self.allocator.snapshot():
            if block[-1]:
                segments.append([])
            segments[-1].append(block)
        for blocks in segments:
            address, _, _, _, stream, pool, is_small, is_expandable, _ = blocks[0]
            total = sum(size for _, size, *_ in blocks)
            requested = sum(asked for _, _, asked, state, *_ in blocks if state != "-")
            kind = ("small" if is_small else "large") + (" expandable" if is_expandable else "")
            shown = "".join(
                f" {_STATES[state]} {size}" + ("" if state == "-" else f"/{asked}")
                for _, size, asked, state, *_ in blocks
            )
            origin = f"stream={stream // _HANDLE_STEP} {kind} pool=0,{pool}"
            yield f"segment addr={address:x} size={total} {origin} requested={requested}:{shown}"

    def _stats(self) -> Iterator[str]:
        for name, value in self.allocator.stats().items():
            if self.release < _STATS_SINCE.get(name, (2, 1)):
                continue
            if isinstance(value, dict):
                for (a, b), stats in sorted(value.items()):
                    yield from _stats_of_pools(f"{name}.{a}_{b}", stats)
            elif isinstance(value, int):
                yield f"stat {name}={value}"
            elif isinstance(value[0], int):
                yield f"stat {name}=" + ",".join(map(str, value))
            else:
                yield from _stats_of_pools(name, value)


def _stats_of_pools(name: str, stats: tuple[tuple[int, ...], ...]) -> Iterator[str]:
    for pool, stat in zip(_POOLS, stats, strict=True):
        yield f"stat {name}.{pool}=" + ",".join(map(str, stat))
