"""When a test took too much, and that the explanation stands beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.cards import find_card
from gapless.explain import explain
from gapless.pytest_plugin.isolated import Took
from gapless.pytest_plugin.limits import complaints, growth
from gapless.pytest_plugin.marker import Limits
from gapless.units import MIB
from tests.programs import Program, user

CARD = find_card("1GiB")


def took(folder: Path, *, capacity_bytes: int = 1024 * MIB) -> Took:
    """A hundred MiB that are kept, and two hundred that fail on a small card."""
    program = Program(capacity_bytes=capacity_bytes)
    program.alloc("kept", 100 * MIB, at=user(3))
    program.alloc("more", 200 * MIB, at=user(4))
    recording = program.open(folder)
    peak = int(recording.curves["reserved"].max())
    return Took(peak, peak, (), (explain(recording),))


def test_a_peak_over_its_limit_is_explained(tmp_path: Path) -> None:
    found = complaints(took(tmp_path), Limits(card=CARD, max_reserved_bytes=250 * MIB), passed=True)

    assert found[0] == "reserved 300.00 MiB at most, and 250.00 MiB are allowed"
    assert "train.py:4" in found[1]


@pytest.mark.parametrize("limits", [Limits(card=CARD), Limits(card=CARD, max_allocated_bytes=300 * MIB)])
def test_what_is_within_its_limits_is_not(limits: Limits, tmp_path: Path) -> None:
    assert complaints(took(tmp_path), limits, passed=True) == []


def test_of_a_test_that_failed_out_of_memory_alone_is_explained(tmp_path: Path) -> None:
    limits = Limits(card=CARD, max_reserved_bytes=1)

    assert complaints(took(tmp_path), limits, passed=False) == []
    (text,) = complaints(took(tmp_path, capacity_bytes=250 * MIB), limits, passed=False)
    assert text.startswith("OOM101 capacity\n")


@pytest.mark.parametrize(
    ("left", "grows"),
    [
        ((5, 6, 7), True),
        ((0, 5, 6, 7, 8), True),
        ((0, 9, 9, 9), False),  # caches that are filled once
        ((0, 5, 6, 6, 7), False),
        ((5, 6), False),  # too few to tell
        ((), False),
    ],
)
def test_growth_is_seen_from_call_to_call(left: tuple[int, ...], grows: bool) -> None:
    assert bool(growth(left, Limits(card=CARD))) == grows


def test_some_growth_may_be_allowed() -> None:
    assert growth((0, 10, 20, 30), Limits(card=CARD, max_growth_bytes=10)) == ""
    assert growth((0, 11, 22, 33), Limits(card=CARD, max_growth_bytes=10)) != ""
