"""A process puts the card under itself before it imports PyTorch."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.virtual.runs import PROGRAMS, environment

if TYPE_CHECKING:
    from pathlib import Path


def ended(python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A finished process, of Python alone."""
    return subprocess.run(
        [str(python), *words], capture_output=True, text=True, timeout=120, check=False, env=environment()
    )


def test_it_asks_its_card_and_is_explained(python: Path) -> None:
    done = ended(python, str(PROGRAMS / "in_process.py"))

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "peaks 3221225472 3221225472",
        "later 1073741824",
        "verdict OOM101 67108864",
        "nothing was recorded on device 1: no tensor was ever there",
        "this process runs on 4GiB already",
    ]


def test_too_late_is_said(python: Path) -> None:
    done = ended(python, "-c", "import sys; sys.modules['torch'] = sys\nimport gapless.virtual as v; v.card('4GiB')")

    assert done.returncode == 1
    assert "PyTorch is imported already" in done.stderr
