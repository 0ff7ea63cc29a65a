"""Programs with a known end, for tests of tune."""

from __future__ import annotations

from pathlib import Path

from gapless.cards import Card
from gapless.conf import NEWEST, Release
from gapless.explain.case import open_case
from gapless.explain.options import ExplainOptions
from gapless.recording import Recording
from gapless.tune import TuneOptions
from gapless.tune.case import Case
from gapless.tune.engine import case_of
from gapless.units import MIB
from tests.programs import Program, in_model, in_optimizer, user


def pinned(folder: Path, *, release: Release = NEWEST, conf: str = "", starts: str = "") -> Recording:
    """Ten segments of 110 MiB, cut into 100 that are freed and 10 that stay; 105 MiB is asked for and fails.

    The card has 1250 MiB: 50 are weights, 1100 are reserved for the segments, 100 are left, 1000 free in ten holes.
    Recording starts at the beginning, or after the `weights`, or after the `cuts`.
    """
    program = Program(capacity_bytes=1250 * MIB, release=release, conf=conf)
    program.alloc("weights", 50 * MIB, at=user(9, "setup"))
    if starts == "weights":
        program.record()
    for k in range(10):
        program.alloc(("whole", k), 110 * MIB, at=user(10))
    program.free(*(("whole", k) for k in range(10)))
    for k in range(10):
        program.alloc(("large", k), 100 * MIB, at=user(11))
        program.alloc(("small", k), 10 * MIB, at=user(12, "keep"))
    if starts == "cuts":
        program.record()
    program.free(*(("large", k) for k in range(10)))
    program.alloc("more", 105 * MIB, at=user(13))
    return program.open(folder)


def training(
    folder: Path, *, steps: int = 4, leak: int = 0, capacity_bytes: int = 4096 * MIB, conf: str = ""
) -> Recording:
    """Weights of 100 MiB, then steps: three activations of 64 MiB, and 32 MiB of the optimizer for a moment."""
    program = Program(capacity_bytes=capacity_bytes, conf=conf)
    program.alloc("weights", 100 * MIB, at=user(20, "setup"))
    for step in range(steps):
        for k in range(3):
            program.alloc((step, k), 64 * MIB, at=in_model(30 + k))
        if leak and not program.alloc((step, "kept"), leak, at=user(42)):
            break
        program.free(*((step, k) for k in range(3)))
        program.alloc((step, "moment"), 32 * MIB, at=in_optimizer())
        program.free((step, "moment"))
    return program.open(folder)


def case(recording: Recording, *, card: int | None = None, leave_free: int = 0, at: str | None = None) -> Case:
    """What is tuned, on a card of so many bytes."""
    on = None if card is None else Card(f"{card} bytes", card, card)
    options = TuneOptions(card=on, leave_free_bytes=leave_free, at=at)
    return case_of(open_case(recording, ExplainOptions(at=at)), options)
