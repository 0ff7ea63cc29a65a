"""Tests that are marked to run on a pretend card."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

KEPT: list[Any] = []


def take(mib: int) -> Any:
    """A tensor of so many MiB."""
    import torch  # noqa: PLC0415  (where NVIDIA's libraries are absent it is there on the pretend card alone)

    return torch.empty(mib << 20, dtype=torch.uint8, device="cuda")


@pytest.mark.gpu_memory(card="4GiB", max_reserved="1GiB", repeats=3)
@pytest.mark.parametrize("mib", [100, 2000])
def test_takes(mib: int) -> None:
    """Too much for its second value."""
    assert take(mib).numel() == mib << 20


@pytest.mark.gpu_memory(card="4GiB")
def test_runs_out() -> None:
    """Too much for the card."""
    take(5000)


@pytest.mark.gpu_memory(card="4GiB", repeats=4)
def test_keeps() -> None:
    """A little more with each call."""
    KEPT.append(take(10))


@pytest.mark.gpu_memory(card="4GiB")
def test_dies() -> None:
    """No report is left."""
    os._exit(3)


@pytest.mark.gpu_memory(card="4GiB")
def test_skips() -> None:
    """It decides so itself."""
    pytest.skip("as it likes")


def test_unmarked() -> None:
    """Runs where all others do."""
    assert "torch" not in sys.modules
