"""A folder of ranks: one table, the first failure, the outlier, and the answer about those."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from tests.integration.run import gapless
from tests.integration.small import MIB, SECRETS, snapshot


def write_rank(folder: Path, rank: int, *, later_us: int = 0, fails: bool = True) -> None:
    """A rank whose clock shows so much more; without its failing request it ended well."""
    value = snapshot()
    if not fails:
        value["device_traces"][0].pop()
    for event in value["device_traces"][0]:
        event["time_us"] += later_us
    (folder / f"oom_rank{rank}.pickle").write_bytes(pickle.dumps(value, protocol=4))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ranks"
    made.mkdir()
    for rank, later_us in ((0, 2_500_000), (1, 0), (2, 1_000), (10, 3_000_000)):
        write_rank(made, rank, later_us=later_us)
    return made


def test_the_first_failure_is_told_by_the_clock(folder: Path) -> None:
    lines = gapless("explain", folder, COLUMNS="110").stdout.splitlines()

    assert [line.split()[0] for line in lines[1:5]] == [f"oom_rank{rank}.pickle" for rank in (0, 1, 2, 10)]
    assert [line.split("MiB")[-1].strip() for line in lines[1:5]] == ["+2.500 s", "first", "+0.001 s", "+3.000 s"]
    assert lines[6].startswith("First failure: oom_rank1.pickle.")
    assert lines[8:10] == ["oom_rank1.pickle", "FRAG201 pinned-segments"]


def test_a_rank_with_other_memory_is_the_outlier(folder: Path) -> None:
    write_rank(folder, 3, fails=False)

    answer = json.loads(gapless("explain", folder, "--format", "json", "--at", "peak").stdout)
    assert answer["first_failure"] is None
    assert answer["outlier"] is None  # at the peak all hold the same

    answer = json.loads(gapless("explain", folder, "--format", "json").stdout)
    assert answer["schema"] == "gapless.explain.ranks/1"
    assert answer["first_failure"]["path"] == str(folder / "oom_rank1.pickle")
    assert answer["outlier"]["path"] == str(folder / "oom_rank3.pickle")
    assert [row["allocated_bytes"] // MIB for row in answer["ranks"]] == [7, 7, 7, 76, 7]
    assert [one["input"]["path"] for one in answer["explanations"]] == [
        str(folder / "oom_rank1.pickle"),
        str(folder / "oom_rank3.pickle"),
    ]
    assert answer["explanations"][0]["fixes"][0]["outcome"] == "serves_request"


def test_files_that_are_no_snapshot_are_left_out_aloud(folder: Path) -> None:
    (folder / "notes.txt").write_text("step 1\n")
    (folder / "broken.pickle").write_bytes(pickle.dumps(snapshot(), protocol=4)[:900])

    done = gapless("explain", folder)

    assert done.returncode == 0
    assert done.stderr.startswith("gapless: left out broken.pickle: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_folder_without_snapshots_is_refused(tmp_path: Path) -> None:
    done = gapless("explain", tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "holds no memory snapshot that can be read, among 0 files" in done.stderr


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_redaction_of_a_folder(folder: Path, form: str) -> None:
    done = gapless("explain", folder, "--redact", "--format", form)

    assert done.returncode == 0
    assert [word for word in (*SECRETS, "oom_rank", folder.parent.name) if word in done.stdout] == []
