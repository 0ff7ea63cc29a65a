"""One recording of a million events under 32 settings, in two threads: what `gapless tune` does first of all.

The program is a mixed one: sizes from 512 bytes to 64 MiB, spread evenly over their logarithms, mostly freed soon, some
late. Its recording is made by our own model of the allocator, so that it replays exactly.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.result import Result
from gapless.conf import parse
from gapless.recording import open_recordings
from gapless.replaying import ReplayOptions, replay, replay_many
from gapless.units import GIB
from tests.programs import Program, user

EVENTS, SETTINGS, WORKERS = 1_000_000, 32, 2
LIVE, RECENT = 4000, 64
CARD = 200 * GIB


def mixed_program(events: int, *, seed: int = 0) -> Program:
    """A program whose recording has at least so many events."""
    rng = random.Random(seed)
    program = Program(capacity_bytes=CARD)
    places = [user(line) for line in range(200)]
    live: list[int] = []
    made = 0
    while program.event_count < events:
        if live and rng.random() < min(0.95, len(live) / LIVE):
            chosen = -1 - rng.randrange(min(len(live), RECENT)) if rng.random() < 0.7 else rng.randrange(len(live))
            live[chosen], live[-1] = live[-1], live[chosen]
            program.free(live.pop())
        else:
            made += 1
            program.alloc(made, int(2 ** rng.uniform(9, 26)), at=places[made % len(places)])
            live.append(made)
    return program


def settings_texts() -> list[str]:
    """As many different settings as are tried."""
    texts = [f"max_split_size_mb:{size}" for size in range(21, 21 + SETTINGS // 2)]
    texts += [f"roundup_power2_divisions:{1 << k}" for k in range(1, 6)]
    texts += [f"large_segment_size_mb:{size}" for size in (32, 64, 128)]
    more = ["", *(f"roundup_power2_divisions:{1 << k}" for k in range(1, 8))]
    texts += [f"expandable_segments:True{',' if text else ''}{text}" for text in more]
    return texts[:SETTINGS]


def main() -> list[Result]:
    """Times the sweep, and one replay alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = mixed_program(EVENTS).write(Path(folder) / "mixed.pickle")
        (recording,) = open_recordings(str(path))
    options = [ReplayOptions(settings=parse(text).settings, capacity_bytes=CARD) for text in settings_texts()]
    best = min(_seconds(lambda: replay_many(recording, options, workers=WORKERS)) for _ in range(2))
    single = min(_seconds(lambda: replay(recording, options[0])) for _ in range(3))
    return [
        Result(work=f"{SETTINGS} settings over {EVENTS:,} events, {WORKERS} threads", unit="s", ours=best, target=4),
        Result(work=f"one replay of {EVENTS:,} events", unit="s", ours=single, target=0.25),
    ]


def _seconds(run: Callable[[], object]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun
