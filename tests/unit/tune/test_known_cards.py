"""The smallest card of the table is the one on which a replay fails nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.recording import Recording
from gapless.tune.known_cards import smallest_known_card
from gapless.units import GIB, MIB
from tests.programs import Program, user


def took(folder: Path, size_bytes: int) -> Recording:
    """One tensor on a card without end."""
    program = Program(capacity_bytes=1 << 40)
    program.alloc("all", size_bytes, at=user(3))
    return program.open(folder)


@pytest.mark.parametrize(("size", "card"), [(14, "t4"), (20, "a10"), (100, "h200"), (1000, None)])
def test_it_is_found_by_replay(size: int, card: str | None, tmp_path: Path) -> None:
    assert smallest_known_card([took(tmp_path, size * GIB)]) == card


def test_each_device_needs_its_own(tmp_path: Path) -> None:
    small, large = took(tmp_path, MIB), took(tmp_path, 50 * GIB)

    assert smallest_known_card([small, large]) == smallest_known_card([large]) == "h100-80g"
