"""Programs whose failure has one clear reason, and looks like another: what others took, lowered limits, small holes.

Each is by its name in `ATTACKS`, so that all answers about them can be held against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gapless.recording import Recording
from gapless.units import KIB, MIB
from tests.programs import Program, in_model, in_optimizer, user


def shrunk(*, first: int, left: int, asked: int, in_use: int = 0, total: int = 2000) -> Program:
    """A request is served and given back; then others take memory until so many MiB are left, and one fails."""
    program = Program(capacity_bytes=total * MIB)
    if in_use:
        program.alloc("weights", in_use * MIB, at=user(3))
    program.alloc("first", first * MIB, at=user(5))
    program.free("first")
    program.empty_cache()
    program.set_capacity(left * MIB)
    assert not program.alloc("asked", asked * MIB, at=user(6))
    return program


def failed_before() -> Program:
    """1900 MiB are refused with 800 free beside 1200; then 1300 are all that is left, and 1350 are refused."""
    program = Program(capacity_bytes=2000 * MIB)
    program.alloc("weights", 1200 * MIB, at=user(3))
    assert not program.alloc("too much", 1900 * MIB, at=user(4))
    program.set_capacity(1300 * MIB)
    program.free("weights")
    assert not program.alloc("asked", 1350 * MIB, at=user(6))
    return program


def cut_after_others_came() -> Program:
    """1500 MiB of the card of 2000 are used; of the 1400 left, holes of 188 MiB hold nearly all."""
    program = Program(capacity_bytes=2000 * MIB)
    program.alloc("weights", 200 * MIB, at=user(3))
    program.alloc("first", 1300 * MIB, at=user(5))
    program.free("first")
    program.empty_cache()
    program.set_capacity(1400 * MIB)
    for k in range(5):
        program.alloc(("whole", k), 200 * MIB, at=user(5))
    program.free(*(("whole", k) for k in range(5)))
    for k in range(5):
        program.alloc(("large", k), 188 * MIB, at=user(8))
        program.alloc(("small", k), 12 * MIB, at=user(9))
    program.free(*(("large", k) for k in range(5)))
    assert not program.alloc("asked", 1000 * MIB, at=user(6))
    return program


def lowered() -> Program:
    """6000 MiB of 8000 are reserved once; then a fraction of 0.4 refuses 3000 beside 1000."""
    program = Program(capacity_bytes=8000 * MIB)
    program.alloc("weights", 1000 * MIB, at=user(3))
    program.alloc("load", 5000 * MIB, at=user(5))
    program.free("load")
    program.empty_cache()
    program.set_fraction(0.4)
    for step in range(5):
        for k in range(3):
            program.alloc((step, k), 64 * MIB, at=in_model(30 + k))
        program.free(*((step, k) for k in range(3)))
        program.alloc((step, "moment"), 32 * MIB, at=in_optimizer())
        program.free((step, "moment"))
    assert not program.alloc("asked", 3000 * MIB, at=user(6))
    return program


def limited(*, fraction: float, first: int, pin: int, asked_bytes: int, total: int = 1000) -> Program:
    """Under a fraction a segment stays for `pin` MiB in it; or, with no pin, is in use."""
    program = Program(capacity_bytes=total * MIB)
    program.set_fraction(fraction)
    program.alloc("first", first * MIB, at=user(10))
    if pin:
        program.free("first")
        program.alloc("pin", pin * MIB, at=user(11, "keep"))
    assert not program.alloc("asked", asked_bytes, at=user(12))
    return program


def small_holes() -> Program:
    """3000 blocks of 100 KiB, of which every twentieth stays: 150 segments of 2 MiB, nearly free. 300 MiB fail."""
    program = Program(capacity_bytes=400 * MIB)
    for k in range(3000):
        program.alloc(k, 100 * KIB, at=user(5))
    program.free(*(k for k in range(3000) if k % 20))
    assert not program.alloc("asked", 300 * MIB, at=user(12))
    return program


def large_hole() -> Program:
    """998 of 1000 MiB are free in a segment for large requests, and 1000 bytes fail."""
    program = Program(capacity_bytes=1000 * MIB)
    program.alloc("whole", 999 * MIB, at=user(3))
    program.free("whole")
    program.alloc("pin", 2 * MIB, at=user(8))
    assert not program.alloc("asked", 1000, at=user(4))
    return program


def too_much_at_once() -> Program:
    """1500 MiB are asked for beside 600 in use, on 2000."""
    program = Program(capacity_bytes=2000 * MIB)
    program.alloc("weights", 100 * MIB, at=user(5))
    for k in range(10):
        program.alloc(k, 50 * MIB, at=user(42))
    assert not program.alloc("asked", 1500 * MIB, at=user(99))
    return program


ATTACKS: dict[str, Callable[[], Program]] = {
    "shrunk": lambda: shrunk(first=1500, left=800, asked=1200),
    "shrunk beside weights": lambda: shrunk(first=1500, left=1300, asked=1200, in_use=200),
    "shrunk a little": lambda: shrunk(first=1500, left=1400, asked=1450),
    "shrunk a little beside weights": lambda: shrunk(first=1300, left=1400, asked=1250, in_use=200),
    "failed before": failed_before,
    "cut after others came": cut_after_others_came,
    "lowered": lowered,
    "limited": lambda: limited(fraction=0.5, first=300, pin=0, asked_bytes=300 * MIB),
    "limited in pieces": lambda: limited(fraction=0.5, first=700, pin=12, asked_bytes=750 * MIB, total=2000),
    "limited small": lambda: limited(fraction=0.7, first=700, pin=12, asked_bytes=1000),
    "small holes": small_holes,
    "large hole": large_hole,
    "too much at once": too_much_at_once,
}


def attack(name: str, folder: Path) -> Recording:
    """The recording of one of them."""
    return ATTACKS[name]().open(folder)
