"""`gapless fit` finds the pair of values of which one fits and the next does not, and few runs are needed."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from tests.schemas import validate
from tests.virtual.runs import PROGRAMS, environment, run

if TYPE_CHECKING:
    from pathlib import Path

OUT_OF_MEMORY = 71


def fitted(python: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A finished `gapless fit`."""
    command = [str(python), "-m", "gapless", "fit", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment())


def test_the_pair_is_found_and_is_true(python: Path, tmp_path: Path) -> None:
    script = str(PROGRAMS / "batches.py")
    span = ("--cards", "1GiB", "--margin", "0", "--vary", "batch=1:4096", "--format", "json")

    done = fitted(python, *span, "--", script, "{batch}")
    answer: dict[str, Any] = json.loads(done.stdout)
    validate(answer)
    (row,) = answer["rows"]
    largest = row["largest"]

    assert done.returncode == 0, done.stderr
    assert (row["fits"]["value"], row["fails"]["value"]) == (largest, largest + 1)
    assert answer["runs"] <= 2 + 4
    fitted_run = run(python, tmp_path, "batches.py", str(largest), card="1GiB")
    assert (fitted_run.status, fitted_run.process["smallest_card"]) == (0, "t4")
    failed = run(python, tmp_path, "batches.py", str(largest + 1), card="1GiB")
    assert (failed.status, failed.process["smallest_card"]) == (OUT_OF_MEMORY, None)


def test_a_script_that_fails_otherwise_is_shown(python: Path) -> None:
    done = fitted(python, "--cards", "1GiB", "--vary", "n=1:8", "--", str(PROGRAMS / "batches.py"), "{n}", "fail")

    assert done.returncode == 2
    assert done.stdout == ""
    assert "ended with status 1, and not for want of memory" in done.stderr
    assert "ValueError: this has nothing to do with memory" in done.stderr
