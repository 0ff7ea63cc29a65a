"""The recorder for real GPUs, on the pretend card: the same PyTorch, the same observer, the same snapshots."""

from __future__ import annotations

import json
from pathlib import Path

from tests.virtual.recorded import explain, record, run_and_look
from tests.virtual.runs import PROGRAMS, run

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
    assert done.code == "OOM101", "and the report of `gapless run` has its events"
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
    assert explain(python, done.folder)["left_out"] == []


def test_one_part_of_a_program_is_recorded_and_then_left_alone(python: Path, tmp_path: Path) -> None:
    out = tmp_path / "part"
    done = run(python, tmp_path, "recorded_part.py", str(out), card="2GiB")
    answer = explain(python, out)

    assert "goes on True" in done.printed
    assert done.status == 0
    assert [row["code"] for row in answer["ranks"]] == ["OOM102"], "1 TiB is more than the card has"
    assert sorted(path.suffix for path in out.iterdir()) == [".json", ".jsonl", ".pickle"]


def test_a_failure_in_backward_is_known_to_be_there(python: Path, tmp_path: Path) -> None:
    capsule = record(python, tmp_path, "recorded.py", "fails_backward").capsule

    assert (capsule["reason"], capsule["phase"]) == ("out_of_memory", "backward")


def test_a_failure_in_a_thread_is_written(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "recorded.py", "fails_in_a_thread")

    assert done.status == 0
    assert done.capsule["reason"] == "out_of_memory"
    assert done.actions().count("oom") == 1


def test_failures_that_are_caught_are_written_and_the_program_goes_on(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "recorded.py", "catches")
    answer = explain(newest, done.folder)

    assert done.status == 0
    assert [row["step"] for row in done.steps] == [1, 2, 3, 4, 5]
    assert [row["reason"] for row in done.rows if row["row"] == "occasion"] == [*["out_of_memory"] * 6, "exit"]
    assert done.capsule["reason"] == "out_of_memory"
    assert len(done.capsule["earlier"]) == 5
    assert [row["code"] for row in answer["ranks"]] == ["OOM101"]


def test_a_program_that_ends_without_a_word_leaves_its_rows(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "recorded.py", "signalled")

    assert done.status == 3
    assert done.capsule["reason"] == "signal"
    assert [row["step"] for row in done.steps] == [1, 2, 3, 4, 5]
    assert "alloc" in done.actions()


def test_a_program_may_be_recorded_when_it_is_told_to_end(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "recorded.py", "terminated", GAPLESS_RECORD_OPTIONS="signal:TERM")

    assert done.status == 128 + 15
    assert done.capsule["reason"] == "signal"


def test_a_full_card_is_written_once(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "recorded.py", "full", GAPLESS_RECORD_OPTIONS="threshold:0.9")

    assert [row["reason"] for row in done.rows if row["row"] == "occasion"] == ["threshold"]
    assert done.capsule["devices"][0]["device_free_bytes"] < GIB // 5


def test_a_library_that_finds_no_memory_is_named(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "recorded.py", "library")
    answer = explain(newest, done.folder)

    assert done.status == 1
    assert done.capsule["reason"] == "library_out_of_memory"
    assert done.capsule["failure"]["library"] == "cuBLAS"
    assert [row["code"] for row in answer["ranks"]] == ["OUT502"]


def test_a_folder_that_cannot_be_written_is_one_line(newest: Path, tmp_path: Path) -> None:
    (tmp_path / "recording").write_text("a file")
    done = record(newest, tmp_path, "recorded.py", "train")

    assert done.status == 0
    (line,) = [line for line in done.printed.splitlines() if line.startswith("gapless: what happens")]
    assert line == "gapless: what happens cannot be recorded: File exists; the program goes on"


def test_a_disk_that_fills_up_changes_nothing_for_the_program(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "recorded.py", "fills_the_disk")
    said = [line for line in done.printed.splitlines() if line.startswith("gapless: ") and "File too large" in line]

    assert done.status == OUT_OF_MEMORY
    assert len(said) == 2, "of the rows, and of the capsule; each is said once"
    assert [path.suffix for path in done.folder.iterdir()] == [".jsonl"], "no half of a file is left"


def test_ranks_have_files_of_their_own_and_are_explained_together(newest: Path, tmp_path: Path) -> None:
    out = tmp_path / "recording"
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2")
    done = run_and_look(newest, out, *launcher, str(PROGRAMS / "recorded.py"), "catches", GAPLESS_RECORD=str(out))
    answer = explain(newest, out)

    assert done.status == 0
    assert [Path(row["path"]).name for row in answer["ranks"]] == ["rank0.pickle", "rank1.pickle"]
    assert [row["code"] for row in answer["ranks"]] == ["OOM101", "OOM101"]
    assert answer["left_out"] == []
    capsules = [json.loads((out / f"rank{rank}.capsule.json").read_text()) for rank in range(2)]
    assert [(capsule["rank"], capsule["world_size"]) for capsule in capsules] == [(0, 2), (1, 2)]


def test_a_capsule_alone_stands_for_its_rank(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "recorded.py", "fails", RANK="5", GAPLESS_RECORD_OPTIONS="snapshot_seconds:0")
    (row,) = explain(newest, done.folder)["ranks"]

    assert done.capsule["snapshot"]["path"] is None
    assert (Path(row["path"]).name, row["kind"]) == ("rank5.capsule.json", "log")
    assert (row["code"], row["requested_bytes"], row["has_failed"]) == ("OOM101", 2 * GIB, True)


def test_a_second_run_takes_no_name_of_the_first(newest: Path, tmp_path: Path) -> None:
    for _ in range(2):
        done = record(newest, tmp_path, "recorded.py", "train", RANK="0")

    assert sorted(path.name for path in done.folder.glob("*.pickle")) == ["rank0-run2.pickle", "rank0.pickle"]


def test_the_command_records_and_says_what_to_type(newest: Path, tmp_path: Path) -> None:
    words = ("-m", "gapless", "record", "--out", "mine", "--max-events", "50", str(PROGRAMS / "recorded.py"), "train")
    done = run_and_look(newest, tmp_path / "mine", *words)

    assert done.status == 0
    assert "gapless: recorded in mine; to see what took memory: gapless explain mine\n" in done.printed
    assert done.capsule["snapshot"]["events"] == len(done.actions()) == 50


def test_a_failure_is_said_once_and_the_status_is_the_programs(newest: Path, tmp_path: Path) -> None:
    words = ("-m", "gapless", "record", "--out", "mine", str(PROGRAMS / "recorded.py"), "fails")
    done = run_and_look(newest, tmp_path / "mine", *words)

    assert "torch.OutOfMemoryError" in done.printed
    assert [line for line in done.printed.splitlines() if line.startswith("gapless: the failure")] == [
        "gapless: the failure is recorded in mine; to see why: gapless explain mine"
    ]


def test_a_program_that_records_itself_keeps_its_own_bounds(python: Path, tmp_path: Path) -> None:
    done = record(python, tmp_path, "recorded.py", "records_itself")

    assert len(done.actions()) == 7


def test_a_compiled_step_has_a_row_and_no_warning(python: Path, tmp_path: Path) -> None:
    done = record(python, tmp_path, "recorded.py", "compiled")

    assert done.status == 0
    assert [row["step"] for row in done.steps] == [1, 2, 3, 4, 5]
    assert "Dynamo does not know" not in done.printed


def test_memory_in_pieces_is_explained_from_what_was_recorded(newest: Path, tmp_path: Path) -> None:
    done = record(newest, tmp_path, "pinned.py", card="512MiB")
    (explanation,) = explain(newest, done.folder)["explanations"]

    assert explanation["verdict"]["code"] == "FRAG201"
    ((run,),) = (process["explanations"] for process in json.loads(done.report)["processes"])
    assert explanation["fixes"] == run["fixes"] != [], "nothing is lost to what `gapless run` knows"
    assert done.capsule["phase"] == "other"
    assert done.steps == []
