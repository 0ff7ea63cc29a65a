"""`gapless explain` as the shell sees it: the answer, its forms, status and streams."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.run import GAPLESS, gapless
from tests.integration.small import leaks, snapshot, write

MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 24.00 GiB of"
    " which 1.44 GiB is free. Including non-PyTorch memory, this process has 22.56 GiB memory in use. Of the allocated"
    " memory 16.49 GiB is allocated by PyTorch, and 5.57 GiB is reserved by PyTorch but unallocated.\n"
)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write(tmp_path / "small.pickle")


def test_the_verdict_comes_first_in_three_lines(small: Path) -> None:
    done = gapless("explain", small)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "FRAG201 pinned-segments"
    assert lines[1].startswith("What  The request for 60.00 MiB at model.py:109 failed although 69.00 MiB were")
    names = [line.split()[0] for line in lines[1 : lines.index("")] if line[:4].strip()]
    assert names == ["What", "Why", "Do"]


def test_no_line_is_longer_than_the_window(small: Path) -> None:
    places = gapless("explain", small, COLUMNS="80").stdout.splitlines()

    assert [line for line in places if len(line) > 80] == []


def test_json_is_one_document_and_the_only_thing_on_stdout(small: Path) -> None:
    answer = json.loads(gapless("explain", small, "--format", "json").stdout)

    assert answer["schema"] == "gapless.explain/1"
    assert answer["verdict"]["code"] == "FRAG201"
    assert answer["state"]["event"] == 13
    assert answer["state"]["free_bytes"] == 69 << 20
    assert answer["fixes"][0]["outcome"] == "serves_request"


def test_several_devices_are_one_document(tmp_path: Path) -> None:
    answer = json.loads(gapless("explain", write(tmp_path / "two.pickle", 2), "--format", "json").stdout)

    assert answer["schema"] == "gapless.explain.devices/1"
    assert [device["input"]["device"] for device in answer["devices"]] == [0, 1]


def test_several_devices_each_have_a_heading(tmp_path: Path) -> None:
    lines = gapless("explain", write(tmp_path / "two.pickle", 2)).stdout.splitlines()

    assert [line for line in lines if line.startswith("Device ")] == ["Device 0", "Device 1"]


@pytest.mark.parametrize("text", ["roundup_power2_divisions:[1:2", "max_split_size_mb:64,["])
def test_settings_that_end_inside_a_list_do_not_stop_the_answer(tmp_path: Path, text: str) -> None:
    value = snapshot()
    value["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"] = text
    path = tmp_path / "a.pickle"
    path.write_bytes(pickle.dumps(value))

    done = gapless("explain", path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("FRAG201")


@pytest.mark.parametrize(
    ("recorded", "given", "named"),
    [
        ("", "expandable_segments:True", "expandable_segments"),
        ("max_split_size_mb:64", "max_split_size_mb:128", "max_split_size"),
        ("max_split_size_mb:64", "max_split_size_mb:64", None),
        (None, "max_split_size_mb:64", None),
    ],
)
def test_settings_that_contradict_the_file_are_said_first(
    tmp_path: Path, recorded: str | None, given: str, named: str | None
) -> None:
    content = snapshot()
    content.pop("allocator_settings", None)
    if recorded is not None:
        content["allocator_settings"] = {"PYTORCH_CUDA_ALLOC_CONF": recorded}
    path = tmp_path / "small.pickle"
    path.write_bytes(pickle.dumps(content))

    stderr = gapless("explain", path, "--no-fixes", "--conf", given).stderr

    if named is None:
        assert "contradicts" not in stderr
    else:
        assert f"--conf contradicts the file, in which {named} had another value" in stderr
        assert "gapless replay FILE --conf TEXT" in stderr
        assert "gapless tune FILE" in stderr


@pytest.mark.parametrize(("card", "is_said"), [(["--card", "8GiB"], True), ([], False)])
def test_the_peak_beside_another_card_is_said_to_be_the_recorded_runs(
    small: Path, card: list[str], is_said: bool
) -> None:
    answer = gapless("explain", small, "--at", "peak", "--no-fixes", *card).stdout

    assert "At the peak of reserved memory" in answer
    assert ("At the peak of reserved memory of the recorded run (event" in answer) is is_said


def test_one_device_of_several(tmp_path: Path) -> None:
    done = gapless("explain", write(tmp_path / "two.pickle", 2), "--device", "1", "--format", "json")

    assert json.loads(done.stdout)["input"]["device"] == 1


@pytest.mark.parametrize(
    ("what", "status"), [("error", 1), ("FRAG201", 1), ("frag201", 1), ("ERROR", 1), ("OOM101", 0)]
)
def test_fail_on_makes_it_a_check(small: Path, what: str, status: int) -> None:
    done = gapless("explain", small, "--fail-on", what)

    assert done.returncode == status
    assert done.stdout.startswith("FRAG201")


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_redaction_leaves_no_part_of_a_path(tmp_path: Path, form: str) -> None:
    path = write(tmp_path / "secret.pickle")

    done = gapless("explain", path, "--redact", "--format", form)

    assert done.returncode == 0
    assert "file-" in done.stdout
    assert leaks(done.stdout, tmp_path.name) == []


def test_equal_files_have_equal_names_when_redacted(small: Path) -> None:
    answer = json.loads(gapless("explain", small, "--redact", "--format", "json").stdout)

    files = {frame["file"] for holder in answer["holders"] for frame in holder["place"]}
    assert len(files) == 2
    assert all(file.startswith("file-") for file in files)


def test_packed_is_as_plain(small: Path, tmp_path: Path) -> None:
    packed = tmp_path / "small.pickle.gz"
    packed.write_bytes(gzip.compress(small.read_bytes()))

    assert gapless("explain", packed).stdout == gapless("explain", small).stdout


def test_a_log_is_told_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "anything.pickle"
    path.write_text(f"step 1\n[rank1]: {MESSAGE}")

    done = gapless("explain", path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("FRAG201 pinned-segments (likely)\nWhat  The request for 1.95 GiB failed")
    assert "The message (line 2, rank 1)\n  CUDA out of memory. Tried to allocate 1.95 GiB." in done.stdout
    assert "_record_memory_history" in done.stdout


def test_a_log_on_stdin() -> None:
    answer = json.loads(gapless("explain", "-", "--format", "json", stdin=MESSAGE.encode()).stdout)

    assert answer["input"]["path"] == "stdin"
    assert answer["input"]["kind"] == "log"
    assert answer["verdict"]["code"] == "FRAG201"


def test_a_log_of_several_ranks_has_a_table() -> None:
    text = f"[rank1]: {MESSAGE}[rank0]: {MESSAGE}"

    lines = gapless("explain", "-", stdin=text.encode(), COLUMNS="120").stdout.splitlines()

    table = lines[lines.index("Every message") :]
    assert table[1].split()[:3] == ["rank", "device", "line"]
    assert table[2].split()[:3] == ["1", "0", "1"]
    assert table[3].split()[:3] == ["0", "0", "2"]


def test_a_log_without_a_failure_says_so() -> None:
    done = gapless("explain", "-", stdin=b"step 1\nstep 2\n")

    assert done.returncode == 0
    assert "No out-of-memory message stands in this log of 2 lines." in done.stdout


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_redaction_of_a_log(form: str, tmp_path: Path) -> None:
    path = tmp_path / "hidden.log"
    path.write_text(MESSAGE)

    done = gapless("explain", path, "--redact", "--format", form)

    assert done.returncode == 0
    assert "hidden" not in done.stdout
    assert tmp_path.name not in done.stdout


def test_a_name_that_is_not_text_can_be_read(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.pickle"
    Path(os.fsdecode(path)).write_bytes(pickle.dumps(snapshot()))

    done = gapless("explain", path, "--format", "json")

    assert done.returncode == 0
    assert json.loads(done.stdout)["input"]["path"].endswith("/caf\udce9.pickle")


def test_no_colour_in_a_pipe_nor_where_it_is_unwanted(small: Path) -> None:
    assert "\x1b" not in gapless("explain", small).stdout
    wanted = subprocess.run(
        ["script", "-qec", " ".join([*GAPLESS, "explain", str(small)]), "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": ""},
    )
    unwanted = subprocess.run(
        ["script", "-qec", " ".join([*GAPLESS, "explain", str(small)]), "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
    )
    assert "\x1b[1;31mFRAG201 pinned-segments\x1b[0m" in wanted.stdout
    assert "\x1b" not in unwanted.stdout


def test_a_reader_that_goes_away_is_met_quietly(small: Path) -> None:
    command = f"{' '.join([*GAPLESS, 'explain', str(small)])} | head -1; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)

    verdict, status = done.stdout.splitlines()
    assert verdict == "FRAG201 pinned-segments"
    assert status in ("0", "141")  # 0 when all was written before the reader went
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["explain", "replay", "tune", "conf"])
def test_every_command_describes_itself(command: str) -> None:
    done = gapless(command, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"usage: gapless {command}" in done.stdout
    assert "examples:" in done.stdout
    assert "--format" in done.stdout


def test_an_answer_loads_nothing_that_it_does_not_use(small: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gapless", "explain", small],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert {"numpy", "gapless.tune.engine"} <= loaded
    assert loaded & {"rich", "torch", "numpy.ma", "numpy.random", "hashlib", "html", "multiprocessing"} == set()


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_log_says_how_sure_it_is(tmp_path: Path, form: str) -> None:
    log = tmp_path / "train.log"
    log.write_text(MESSAGE)

    head = gapless("explain", log, "--format", form).stdout.splitlines()[0]

    assert head.removeprefix("### ") == "FRAG201 pinned-segments (likely)"


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("command", ["explain", "replay"])
@pytest.mark.parametrize("content", [None, b"", b"\x80\x04cut"])
def test_redaction_of_failures(tmp_path: Path, form: str, command: str, content: bytes | None) -> None:
    path = tmp_path / "secret project" / "ada.pickle"
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)

    done = gapless(command, path, "--redact", *(["--format", "json"] if form == "json" else []))

    assert done.returncode == 2
    assert "gapless: file-" in done.stderr
    assert leaks(done.stdout + done.stderr, tmp_path.name) == []


def test_redaction_of_what_is_left_out_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "ada.pickle").write_bytes(b"")

    done = gapless("explain", tmp_path, "--redact")

    assert "gapless: left out file-" in done.stderr
    assert leaks(done.stdout + done.stderr, tmp_path.name) == []


@pytest.mark.parametrize(
    ("kept", "words"), [(0, "this file holds no events"), (1, "this file holds no event that allocates or frees")]
)
def test_what_the_file_holds_is_said_as_it_is(tmp_path: Path, kept: int, words: str) -> None:
    value = snapshot()
    trace = value["device_traces"][0]
    trace[:] = [event for event in trace if event["action"] == "oom"][:kept]
    path = tmp_path / "alone.pickle"
    path.write_bytes(pickle.dumps(value))

    done = gapless("explain", path, "--no-fixes", COLUMNS="110")

    assert words + ", so nothing could be checked" in done.stdout
