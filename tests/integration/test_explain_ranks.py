"""A folder of ranks: one table, the first failure, the outlier, and the answer about those."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.run import gapless
from tests.integration.small import MIB, A, B, leaks, snapshot
from tests.schemas import validate

FIXTURES = Path(__file__).parents[1] / "fixtures" / "verdicts"
NCCL = "RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:77\nLast error:\nCuda failure 2 'out of memory'\n"
PYTORCH = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 24.00 GiB of"
    " which 1.44 GiB is free. Including non-PyTorch memory, this process has 22.56 GiB memory in use. Of the allocated"
    " memory 16.49 GiB is allocated by PyTorch, and 5.57 GiB is reserved by PyTorch but unallocated.\n"
)


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


def scaled(value: dict[str, Any], factor: int) -> dict[str, Any]:
    """The same with everything so many times as large."""

    def at(address: int) -> int:
        base = A if address < B else B
        return base + (address - base) * factor

    for event in value["device_traces"][0]:
        event["size"] *= factor
        if "addr" in event:
            event["addr"] = at(event["addr"])
    for segment in value["segments"]:
        for name in ("total_size", "allocated_size", "active_size", "requested_size"):
            segment[name] *= factor
        for block in segment["blocks"]:
            block.update(address=at(block["address"]), size=block["size"] * factor)
            block["requested_size"] *= factor
    return value


def test_a_rank_that_needs_more_than_its_like_is_the_outlier(folder: Path) -> None:
    (folder / "oom_rank3.pickle").write_bytes(pickle.dumps(scaled(snapshot(), 2), protocol=4))

    answer = json.loads(gapless("explain", folder, "--format", "json", "--at", "peak").stdout)
    assert answer["first_failure"] is None  # not at the peak
    assert answer["outlier"]["path"] == str(folder / "oom_rank3.pickle")

    answer = json.loads(gapless("explain", folder, "--format", "json").stdout)
    assert answer["schema"] == "gapless.explain.ranks/1"
    assert answer["first_failure"]["path"] == str(folder / "oom_rank1.pickle")
    assert [row["needed_bytes_peak"] // MIB for row in answer["ranks"]] == [76, 76, 76, 152, 76]
    assert [row["allocated_bytes_peak"] // MIB for row in answer["ranks"]] == [76, 76, 76, 152, 76]
    assert [one["input"]["path"] for one in answer["explanations"]] == [
        str(folder / "oom_rank1.pickle"),
        str(folder / "oom_rank3.pickle"),
    ]

    text = " ".join(gapless("explain", folder, COLUMNS="200").stdout.split())
    assert (
        "Unlike the others: oom_rank3.pickle needed 152.00 MiB at most; the median of the 5 ranks that do the same is"
        " 76.00 MiB." in text
    )


def test_an_outlier_with_which_nothing_else_is_wrong_is_said_to_be_one(tmp_path: Path) -> None:
    for rank in range(4):
        value = scaled(snapshot(), 2 if rank == 3 else 1)
        value["device_traces"][0].pop()  # the failure
        (tmp_path / f"rank{rank}.pickle").write_bytes(pickle.dumps(value, protocol=4))

    text = " ".join(gapless("explain", tmp_path, COLUMNS="110").stdout.split())
    answer = json.loads(gapless("explain", tmp_path, "--format", "json").stdout)

    (one,) = answer["explanations"]
    validate(answer)
    assert one["verdict"]["code"] == "OK000"
    assert one["verdict"]["message"] == one["findings"][0]["message"]
    assert one["verdict"]["message"] == (
        "Nothing failed on this rank, but it needed 152.00 MiB at most; the median of the 4 ranks that do the same is"
        " 76.00 MiB."
    )
    assert one["verdict"]["why"].startswith("At the peaks of both, the largest difference is at ")
    assert one["verdict"]["what_to_do"].startswith("Find out why this rank does not do the same: ")
    assert "Nothing has to be done." not in text
    assert one["verdict"]["message"] in text


def test_an_outlier_that_failed_is_explained_by_its_failure(tmp_path: Path) -> None:
    for rank in range(4):
        value = scaled(snapshot(), 2 if rank == 3 else 1)
        (tmp_path / f"rank{rank}.pickle").write_bytes(pickle.dumps(value, protocol=4))

    answer = json.loads(gapless("explain", tmp_path, "--format", "json").stdout)

    assert answer["outlier"]["path"].endswith("rank3.pickle")
    assert [one["verdict"]["code"] for one in answer["explanations"]] == ["FRAG201", "FRAG201"]


def test_a_rank_that_did_not_fail_is_no_outlier_for_that(folder: Path) -> None:
    write_rank(folder, 3, fails=False)

    answer = json.loads(gapless("explain", folder, "--format", "json").stdout)

    assert [row["has_failed"] for row in answer["ranks"]] == [True, True, True, False, True]
    assert [row["allocated_bytes"] // MIB for row in answer["ranks"]] == [7, 7, 7, 76, 7]
    assert answer["outlier"] is None
    assert answer["explanations"][0]["fixes"][0]["outcome"] == "serves_request"

    answer = json.loads(gapless("explain", folder, "--format", "json", "--at", "oom:0").stdout)
    assert len(answer["ranks"]) == 5
    assert answer["left_out"] == []


def test_ranks_that_do_something_else_are_not_held_against_these(tmp_path: Path) -> None:
    for rank, name in enumerate(
        ["rec701_near_miss_recording_before_the_model"] * 3 + ["peak401_hit_one_matrix_of_all_distances"] * 3
    ):
        (tmp_path / f"rank{rank}.pickle.gz").write_bytes((FIXTURES / f"{name}.pickle.gz").read_bytes())

    answer = json.loads(gapless("explain", tmp_path, "--format", "json").stdout)

    peaks = {row["allocated_bytes_peak"] for row in answer["ranks"]}
    assert max(peaks) > 10 * min(peaks)
    assert answer["outlier"] is None


def test_snapshots_logs_and_what_is_damaged(folder: Path) -> None:
    (folder / "oom_rank4.pickle.gz").write_bytes(
        (FIXTURES / "out502_hit_communicator_after_large_pictures.pickle.gz").read_bytes()
    )
    (folder / "rank4.log").write_text(f"step 7\n{NCCL}")
    (folder / "rank5.log").write_text(PYTORCH)
    (folder / "rank0.log").write_text(PYTORCH)  # there is a snapshot of it
    (folder / "rank6.pickle").write_bytes(pickle.dumps(snapshot(), protocol=4)[:900])

    done = gapless("explain", folder, "--format", "json")

    answer = json.loads(done.stdout)
    names = [Path(row["path"]).name for row in answer["ranks"]]
    assert names == [
        *(f"oom_rank{rank}.pickle" for rank in (0, 1, 2)),
        "oom_rank4.pickle.gz",
        "rank5.log",
        "oom_rank10.pickle",
    ]
    assert [row["code"] for row in answer["ranks"]] == ["FRAG201"] * 3 + ["OUT502", "FRAG201", "FRAG201"]
    assert [row["kind"] for row in answer["ranks"]] == ["snapshot"] * 4 + ["log", "snapshot"]
    assert answer["ranks"][4]["reserved_bytes"] is not None
    assert answer["ranks"][4]["failed_time_us"] is None
    assert [Path(one["path"]).name for one in answer["left_out"]] == ["rank6.pickle"]
    assert done.stderr.startswith("gapless: left out rank6.pickle: ")
    validate(answer)

    lines = gapless("explain", folder, COLUMNS="200").stdout.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("rank5.log")] == ["?"]


def test_marked_lines_of_a_common_log_are_for_their_rank(tmp_path: Path) -> None:
    for rank in (0, 1):
        (tmp_path / f"rank{rank}.pickle.gz").write_bytes(
            (FIXTURES / "out502_hit_communicator_after_large_pictures.pickle.gz").read_bytes()
        )
    (tmp_path / "torchrun.log").write_text("".join(f"[rank1]: {line}\n" for line in NCCL.splitlines()))

    answer = json.loads(gapless("explain", tmp_path, "--format", "json").stdout)

    assert [row["code"] for row in answer["ranks"]] == ["OK000", "OUT502"]
    assert answer["first_failure"]["path"] == str(tmp_path / "rank1.pickle.gz")


def test_room_for_others_needs_a_card_in_a_folder_too(tmp_path: Path) -> None:
    write_rank(tmp_path, 0, fails=False)
    write_rank(tmp_path, 1, fails=False)

    done = gapless("explain", tmp_path, "--leave-free", "1GiB")

    assert (done.returncode, done.stdout) == (2, "")
    assert "--leave-free: nothing failed in this recording" in done.stderr
    assert "left out" not in done.stderr


def test_a_folder_of_logs_alone(tmp_path: Path) -> None:
    (tmp_path / "rank0.log").write_text("step 1\nstep 2\n")
    (tmp_path / "rank1.log").write_text(PYTORCH)
    (tmp_path / "rank2.log").write_text(PYTORCH)

    done = gapless("explain", tmp_path, COLUMNS="120")

    assert done.returncode == 0
    assert "2 ranks failed; logs do not tell which was the first. Shown: rank1.log." in done.stdout
    assert done.stdout.count("FRAG201 pinned-segments (likely)") == 1
    assert "rank0.log" not in done.stdout


def test_files_that_are_no_snapshot_are_left_out_aloud(folder: Path) -> None:
    (folder / "notes.txt").write_text("step 1\n")
    (folder / "broken.pickle").write_bytes(pickle.dumps(snapshot(), protocol=4)[:900])

    done = gapless("explain", folder)

    assert done.returncode == 0
    assert done.stderr.startswith("gapless: left out broken.pickle: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("text", ["xx", "junk"])
def test_a_snapshot_that_became_text_is_left_out_aloud(folder: Path, text: str) -> None:
    (folder / "oom_rank1.pickle").write_text(text)

    done = gapless("explain", folder, "--format", "json")

    assert done.returncode == 0
    assert done.stderr.startswith("gapless: left out oom_rank1.pickle: ")
    assert [row["path"] for row in json.loads(done.stdout)["left_out"]] == [str(folder / "oom_rank1.pickle")]


def test_a_folder_without_snapshots_is_refused(tmp_path: Path) -> None:
    done = gapless("explain", tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert "holds no memory snapshot that can be read, and no log of a failure" in done.stderr


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_redaction_of_a_folder(folder: Path, form: str) -> None:
    done = gapless("explain", folder, "--redact", "--format", form)

    assert done.returncode == 0
    assert leaks(done.stdout, "oom_rank", folder.parent.name) == []


def test_a_copy_is_named(folder: Path) -> None:
    (folder / "oom_rank1 (copy).pickle").write_bytes((folder / "oom_rank1.pickle").read_bytes())

    done = gapless("explain", folder, "--format", "json")

    assert done.stderr == "gapless: oom_rank1.pickle is a copy of oom_rank1 (copy).pickle\n"
    assert len(json.loads(done.stdout)["ranks"]) == 5


def test_of_many_copies_a_few_are_named(folder: Path) -> None:
    for number in range(20):
        (folder / f"z{number:02}.pickle").write_bytes((folder / "oom_rank1.pickle").read_bytes())

    lines = gapless("explain", folder, "--no-fixes").stderr.splitlines()

    assert lines == [
        *(f"gapless: z{number:02}.pickle is a copy of oom_rank1.pickle" for number in range(8)),
        "gapless: 12 more files are copies of others",
    ]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--at", "gapless: --at: 'nonsense' is not a moment"),
        ("--card", "gapless: --card: no card is known as 'nonsense'"),
        ("--torch", "gapless: 'nonsense' is not a PyTorch version"),
        ("--leave-free", "gapless: --leave-free: 'nonsense' is not a size"),
        ("--log", "gapless: nonsense cannot be opened: No such file or directory"),
    ],
)
def test_a_mistake_in_an_option_is_said_once(option: str, message: str, folder: Path) -> None:
    done = gapless("explain", folder, option, "nonsense")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == message
    assert len(done.stderr.splitlines()) <= 2


def test_the_table_is_code_in_markdown(folder: Path) -> None:
    lines = gapless("explain", folder, "--format", "markdown").stdout.splitlines()

    assert lines[0] == "```"
    assert lines[1].startswith("rank ")
    assert lines[lines.index("```", 1) + 1 :][1] == "oom_rank1.pickle"


def test_of_many_files_that_cannot_be_read_some_are_named(folder: Path) -> None:
    for number in range(20):
        (folder / f"cut{number:02}.pickle").write_bytes(b"\x80\x04" + bytes([number]))

    lines = gapless("explain", folder).stderr.splitlines()

    assert len(lines) == 9
    assert lines[0].startswith("gapless: left out cut00.pickle: ")
    assert lines[-1] == "gapless: left out 12 more files"


def test_columns_are_as_wide_as_the_names_that_are_shown(folder: Path) -> None:
    lines = gapless("explain", folder, "--redact", COLUMNS="110").stdout.splitlines()

    assert {line.index("FRAG201") for line in lines[1:5]} == {lines[0].index("verdict")}


def test_an_outlier_of_which_a_rule_speaks_keeps_its_answer(tmp_path: Path) -> None:
    """Others do not fit beside it: that is worse than to differ."""
    for rank in range(4):
        value = scaled(snapshot(), 2 if rank == 3 else 1)
        value["device_traces"][0].pop()
        (tmp_path / f"rank{rank}.pickle").write_bytes(pickle.dumps(value, protocol=4))

    done = gapless("explain", tmp_path, "--format", "json", "--card", "100MiB", "--no-fixes")

    (one,) = json.loads(done.stdout)["explanations"]
    assert one["verdict"]["code"] != "OK000"
    assert "median" not in one["verdict"]["message"]


def test_the_table_calls_sizes_as_the_explanation_does(folder: Path) -> None:
    """Memory that waits for another stream is in use, and not allocated."""
    head, *_ = gapless("explain", folder).stdout.splitlines()

    assert re.split(r"  +", head) == [
        *("rank", "verdict", "asked", "allocated", "reserved", "free", "most allocated", "failed")
    ]


def test_json_that_is_neither_a_snapshot_nor_a_log_is_left_out_and_said_so(folder: Path) -> None:
    (folder / "x.json").write_text('{"a": 1}\n')

    done = gapless("explain", folder, "--format", "json")

    reason = f"{folder / 'x.json'} is text, neither a memory snapshot nor the log of a failure"
    assert json.loads(done.stdout)["left_out"] == [{"path": str(folder / "x.json"), "message": reason}]
    assert done.stderr == f"gapless: left out x.json: {reason}\n"


def test_a_rank_has_one_name_in_a_redacted_answer(folder: Path) -> None:
    value = json.loads(gapless("explain", folder, "--redact", "--format", "json").stdout)

    assert value["explanations"][0]["input"]["path"] in [rank["path"] for rank in value["ranks"]]
