"""The pretend half of the comparison with real cards: every job runs, and the replay repeats it exactly."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from gapless.recording import open_recordings
from tests.recordings import ROOT
from tests.virtual.gpu.compare import compare
from tests.virtual.runs import environment

if TYPE_CHECKING:
    from pathlib import Path

JOBS_IN_ONE_PROCESS = 20


@pytest.fixture(scope="module")
def recordings(python: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Of all jobs that need no settings, in the order of their names."""
    folder = tmp_path_factory.mktemp("jobs")
    words = ["-m", "gapless", "run", "--card", "rtx4090", "--format", "json"]
    words += ["-m", "tests.virtual.gpu.jobs", "all", str(folder)]
    done = subprocess.run(
        [str(python), *words], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return sorted(folder.glob("*.pickle"))


def test_every_job_runs(recordings: list[Path]) -> None:
    assert len(recordings) == JOBS_IN_ONE_PROCESS


def test_the_replay_repeats_each_exactly(recordings: list[Path]) -> None:
    """Without a fresh process: libraries have taken their workspaces before most of them begin."""
    inexact = [path.stem for path in recordings for one in open_recordings(str(path)) if not one.check.exact]

    assert inexact == []


def test_a_job_is_compared_with_itself_and_with_another(recordings: list[Path]) -> None:
    first, second = (open_recordings(str(path))[0] for path in recordings[:2])

    same, other = compare("same", first, first), compare("other", first, second)

    assert (same.sequence, same.reserved[0]) == (1.0, same.reserved[1])
    assert same.events == (first.event_count, first.event_count)
    assert other.sequence < 1.0
