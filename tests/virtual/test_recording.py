"""What is recorded, beside what a script records itself."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

from tests.virtual.runs import run

if TYPE_CHECKING:
    from pathlib import Path


def test_a_script_that_records_itself_finds_its_own_events(python: Path, tmp_path: Path) -> None:
    run(python, tmp_path, "self_recording.py", str(tmp_path / "own.pickle"))
    own = pickle.loads((tmp_path / "own.pickle").read_bytes())
    ours = pickle.loads((tmp_path / "run.pickle").read_bytes())

    assert [e["size"] for e in own["device_traces"][0] if e["action"] == "alloc"] == [4 << 20, 4 << 20]
    files = {frame["filename"].rpartition("/")[2] for event in own["device_traces"][0] for frame in event["frames"]}
    assert "self_recording.py" in files
    assert "small_values.py" not in files
    assert [e["size"] for e in ours["device_traces"][0] if e["action"] == "alloc"] == [5 << 20]


def test_redaction_leaves_no_path_in_the_report(python: Path, tmp_path: Path) -> None:
    report = run(python, tmp_path, "values.py", options=("--redact",)).report
    (process,) = report["processes"]

    assert process["assumptions"]
    assert all(one["file"].startswith("file-") for one in process["assumptions"])
    assert "values.py" not in str(report["processes"])
    assert not any("/" in name for name in process["kernel_libraries"])
