"""Marked tests run on the pretend card, each in its own process, and fail with the explanation."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.virtual.runs import PROGRAMS, environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def printed(python: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest printed about all of them."""
    folder = tmp_path_factory.mktemp("marked")
    shutil.copyfile(PROGRAMS / "marked_tests.py", folder / "test_marked.py")
    words = ["-m", "pytest", "-rA", "-p", "no:randomly", "test_marked.py"]
    done = subprocess.run(
        [str(python), *words], cwd=folder, env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "line",
    [
        "PASSED test_marked.py::test_takes[100]",
        "FAILED test_marked.py::test_takes[2000]",
        "FAILED test_marked.py::test_runs_out",
        "FAILED test_marked.py::test_keeps",
        "FAILED test_marked.py::test_dies",
        "PASSED test_marked.py::test_unmarked",
        "SKIPPED [1] test_marked.py:49: as it likes",
    ],
)
def test_each_ends_as_it_should(line: str, printed: str) -> None:
    assert line in printed


@pytest.mark.parametrize(
    "text",
    [
        "reserved 1.95 GiB at most, and 1.00 GiB are allowed",
        "OOM101 capacity",
        "memory in use grows with every call: 10.00 MiB, 20.00 MiB, 30.00 MiB, 40.00 MiB",
        "the process of this test ended with status 3 before it reported",
    ],
)
def test_why_is_said(text: str, printed: str) -> None:
    assert text in printed
