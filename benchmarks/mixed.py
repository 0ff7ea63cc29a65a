"""Replaying a program of mixed sizes, beside PyTorch's own allocator doing the same calls with history off.

1,000 to 3,000 live allocations; three of four requests are up to 64 KiB, the others up to 8 MiB. Ours replays the calls
from a recording that was read and grouped before; both sides are timed without reading their input.
"""

from __future__ import annotations

import pickle
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.result import Result, Unavailable
from gapless import _core
from gapless.units import GIB, MIB
from tests.differential import build
from tests.differential.libraries import UnavailableError

OPERATIONS = 200_000
ROUNDS = 7
RELEASE = "2.14.1"
_MASK = 2**64 - 1


def operations(count: int) -> list[tuple[int, int]]:
    """(bytes, 0) to allocate, (0, index) to free that one of the live allocations."""
    state, live, found = 88172645463325252, 0, []

    def draw() -> int:
        nonlocal state
        state ^= (state << 13) & _MASK
        state ^= state >> 7
        state ^= (state << 17) & _MASK
        return state

    for _ in range(count):
        if live < 1000 or (draw() & 1 and live < 3000):
            size, is_small = draw(), draw() & 3
            found.append((512 + size % (64 << 10 if is_small else 8 * MIB), 0))
            live += 1
        else:
            found.append((0, draw() % live))
            live -= 1
    return found


def recorded(program: list[tuple[int, int]]) -> bytes:
    """A snapshot, as PyTorch would have recorded the program."""
    allocator = _core.Allocator(2, 14, 80 * GIB)
    live: list[int] = []
    for size, chosen in program:
        if size:
            live.append(allocator.malloc(size))
        else:
            allocator.free(live[chosen])
            live[chosen] = live[-1]
            live.pop()
    events = [
        {"action": action, "addr": address, "size": size, "stream": stream, "pool_id": (0, 0)}
        for action, address, size, stream, _ in allocator.take_events()
    ]
    return pickle.dumps({"segments": _segments(allocator), "device_traces": [events]}, protocol=4)


def _segments(allocator: _core.Allocator) -> list[dict[str, Any]]:
    states = {"A": "active_allocated", "P": "active_pending_free", "-": "inactive"}
    segments: list[dict[str, Any]] = []
    for address, size, requested, state, stream, _, is_small, is_expandable, starts in allocator.snapshot():
        if starts:
            kind = "small" if is_small else "large"
            head = {"device": 0, "address": address, "total_size": 0, "stream": stream, "segment_type": kind}
            segments.append({**head, "segment_pool_id": (0, 0), "is_expandable": is_expandable, "blocks": []})
        segments[-1]["total_size"] += size
        block = {"address": address, "size": size, "requested_size": requested, "state": states[state]}
        segments[-1]["blocks"].append(block)
    return segments


def main() -> list[Result]:
    """Times both in turn and takes the medians."""
    program = operations(OPERATIONS)
    words = np.array(program, dtype=np.uint64).tobytes()
    try:
        peer = build.program(RELEASE, Path(__file__).parent / "real_mixed.cpp")
    except UnavailableError as reason:
        raise Unavailable(str(reason)) from reason
    settings = _core.AllocatorSettings()
    trace = _core.build_trace(_core.read_snapshot(recorded(program)), 0, settings, 2, 14)
    calls = _core.build_program(trace)
    options = _core.WhatIfOptions(2, 14, settings, 80 * GIB)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        _core.what_if(trace, calls, options)
        ours.append((time.perf_counter() - begun) / OPERATIONS * 1e9)
        done = subprocess.run([peer], input=words, capture_output=True, check=True)
        theirs.append(float(done.stdout))
    return [
        Result(
            work=f"replay {OPERATIONS:,} mixed operations",
            unit="ns/op",
            ours=statistics.median(ours),
            peer=f"PyTorch {RELEASE}'s allocator",
            theirs=statistics.median(theirs),
            target=5,
        )
    ]
