"""The recorder for real GPUs, on the pretend card: the same PyTorch, the same observer, the same snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.virtual.recorded import explain, record
from tests.virtual.runs import run

if TYPE_CHECKING:
    from pathlib import Path

OUT_OF_MEMORY = 71
GIB = 1 << 30


def test_a_failing_request_is_written_before_it_unwinds_and_explained(python: Path, tmp_path: Path) -> None:
    done = record(python, tmp_path, "recorded.py", "fails")
    capsule = done.capsule
    answer = explain(python, done.folder)

    assert done.status == OUT_OF_MEMORY
    assert (capsule["reason"], capsule["step"], capsule["phase"]) == ("out_of_memory", 5, "forward")
    assert capsule["failure"]["requested_bytes"] == 2 * GIB
    assert capsule["failure"]["message"].startswith("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total")
    assert capsule["failure"]["message"].partition(" is free")[0] in done.printed
    assert capsule["devices"][0]["device_total_bytes"] == 2 * GIB
    assert capsule["capsule_seconds"] < 0.1
    assert capsule["recorder"] == "gapless"
    assert any("recorded.py" in line for line in capsule["stack"])
    assert not any("gapless/" in line for line in capsule["stack"])
    assert "oom" in done.actions()
    assert [row["code"] for row in answer["ranks"]] == ["OOM101"]
    assert done.printed.count("gapless explain recording") == 1


def test_each_step_has_a_row(python: Path, tmp_path: Path) -> None:
    done = record(python, tmp_path, "recorded.py", "train")
    first, last = done.steps[0], done.steps[-1]

    assert done.status == 0
    assert [row["step"] for row in done.steps] == [1, 2, 3, 4, 5]
    assert first["allocated_bytes_peak"] >= first["allocated_bytes"] > 3 * 4 * 2 * 512 * 2048
    assert last["device_free_bytes"] == 2 * GIB - last["reserved_bytes"]
    assert last["outside_bytes"] == 0
    assert last["phase"] is None, "the peak rises no more"
    assert done.capsule["reason"] == "exit"
    assert done.capsule["failure"] is None
    assert "explain" not in done.printed


def test_one_part_of_a_program_is_recorded_and_then_left_alone(python: Path, tmp_path: Path) -> None:
    out = tmp_path / "part"
    done = run(python, tmp_path, "recorded_part.py", str(out), card="2GiB")
    answer = explain(python, out)

    assert "goes on True" in done.printed
    assert done.status == 0
    assert [row["code"] for row in answer["ranks"]] == ["OOM102"], "1 TiB is more than the card has"
    assert sorted(path.suffix for path in out.iterdir()) == [".json", ".jsonl", ".pickle"]
