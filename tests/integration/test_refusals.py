"""Bad input of any kind ends in one clear message on stderr, nothing on stdout, and status 2."""

from __future__ import annotations

import gzip
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.integration.run import gapless
from tests.integration.small import snapshot, write


class Evil:
    """Creates a file when it is loaded by pickle."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self._path}",)


def assert_refused(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    """Status 2, an empty stdout, one message that holds the parts, at most one hint."""
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("gapless: ")
    assert len(lines) <= 2
    assert all(line.startswith("  ") for line in lines[1:])
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr


def changed(event: int, **fields: int) -> dict[str, Any]:
    """The small recording with one event made impossible."""
    value = snapshot()
    value["device_traces"][0][event] |= fields
    return value


@pytest.mark.parametrize("command", ["explain", "replay", "tune"])
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("missing", ("cannot be opened: No such file or directory",)),
        ("empty", ("is empty",)),
        ("picture.png", ("a PNG image",)),
        ("cut", ("byte ", "device_traces[0]", "the file ends inside a value", "it was cut")),
        ("evil", ("byte ", "asks to run code", "posix.system", "nothing of it was run")),
        ("cut.gz", ("gzip ends early",)),
        ("noise", ("binary data",)),
        ("pipe", ("is a pipe",)),
        ("bad.gz", ("bad.gz: the gzip is damaged",)),
        ("nothing", ("holds no device with memory: no segment and no event",)),
        (
            "impossible",
            ("device 0: event 1 has address", "no device has so much memory", "record it again"),
        ),
        ("beyond", ("byte ", ": device_traces[0][0].size is an integer beyond 64 bits", "record it again")),
    ],
)
def test_a_file_that_is_no_recording(command: str, name: str, parts: tuple[str, ...], tmp_path: Path) -> None:
    whole = pickle.dumps(snapshot(), protocol=4)
    contents = {
        "empty": b"",
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "cut": whole[: len(whole) // 2],
        "evil": pickle.dumps({"segments": [Evil(tmp_path / "ran")], "device_traces": []}),
        "cut.gz": gzip.compress(whole)[:-200],
        "noise": bytes(range(128, 256)) * 3,
        "bad.gz": gzip.compress(whole)[:20] + b"\xff" * 1000,
        "nothing": pickle.dumps({"segments": [], "device_traces": []}),
        "impossible": pickle.dumps(changed(1, size=1 << 63)),
        "beyond": pickle.dumps(changed(0, size=1 << 80)),
    }
    path = tmp_path / name
    if name == "pipe":
        os.mkfifo(path)
    elif name in contents:
        path.write_bytes(contents[name])

    assert_refused(gapless(command, path), str(path), *parts)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("command", ["explain", "replay", "tune"])
def test_a_device_file(command: str) -> None:
    assert_refused(gapless(command, "/dev/null"), "/dev/null is a device, not a file", "give a file")


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="asks for the files that Linux makes up")
@pytest.mark.parametrize("folder", ["/proc", "/sys", "/proc/self/fd"])
def test_a_folder_that_the_kernel_makes_up(folder: str) -> None:
    assert_refused(gapless("explain", folder), f"{folder} shows the kernel's own state (", "the file of each rank")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pickle")
    path.chmod(0)

    assert_refused(gapless("explain", path), "Permission denied")


MANY_DIGITS = "9" * 5000
"""More than Python makes a number of."""
OPTIONS = [
    (("--device", "3"), ("no device 3; it has 0",)),
    (("--device", "x"), ("--device", "'x'")),
    (("--device", MANY_DIGITS), ("--device", "9999...")),
    (("--at", "nonsense"), ("--at: 'nonsense' is not a moment", "oom:0")),
    (("--at", ""), ("--at: '' is not a moment",)),
    (("--at", "oom:7"), ("failure 7", "has 1")),
    (("--at", "event:99"), ("event 99", "14 events")),
    (("--at", f"event:{MANY_DIGITS}"), ("--at: 'event:9999",)),
    (("--at", "event:\u0661"), ("is not a moment",)),
    (("--card", "nonsense"), ("no card is known as 'nonsense'", "h100-80g")),
    (("--card", ""), ("--card: no card is known as ''",)),
    (("--card", "0"), ("--card: a card of 0 bytes", "write it like 24GiB")),
    (("--card", "24"), ("--card: a card of 24 bytes", "write 24GiB?")),
    (("--card", "99999999999999999999GiB"), ("--card: '99999999999999999999GiB' is more memory than there is",)),
    (("--card", f"{MANY_DIGITS}GiB"), ("is more memory than there is",)),
    (("--torch", "nonsense"), ("'nonsense' is not a PyTorch version",)),
    (("--torch", ""), ("'' is not a PyTorch version",)),
    (("--frobnicate",), ("--frobnicate",)),
    (("another",), ("another",)),
]


@pytest.mark.parametrize("command", ["explain", "replay", "tune"])
@pytest.mark.parametrize(("options", "parts"), OPTIONS)
def test_options_that_mean_nothing(
    command: str, options: tuple[str, ...], parts: tuple[str, ...], tmp_path: Path
) -> None:
    assert_refused(gapless(command, write(tmp_path / "a.pickle"), *options), *parts)


@pytest.mark.parametrize(
    ("command", "options", "parts"),
    [
        (
            "explain",
            ("--recorded-card", "64MiB"),
            ("--recorded-card: the run reserved 76.00 MiB on device 0", "64.00 MiB"),
        ),
        ("explain", ("--fail-on", "nonsense"), ("--fail-on: 'nonsense' is not known",)),
        ("explain", ("--fail-on", "FRAG999"), ("--fail-on: 'FRAG999' is not known", "`gapless rule` lists all")),
        ("explain", ("--format", "yaml"), ("--format", "yaml")),
        ("replay", ("--conf", "backend:cudaMallocAsync"), ("--conf: backend:cudaMallocAsync is the driver's own",)),
        ("explain", ("--conf", "backend:cudaMallocAsync"), ("--conf: ", "is not modelled", "leave backend out")),
        ("tune", ("--conf", "backend:cudaMallocAsync"), ("--conf: ", "is not modelled", "leave backend out")),
        ("replay", ("--conf", "nonsense:1"), ("--conf: PyTorch 2.7 does not know 'nonsense'",)),
        ("explain", ("--conf", "nonsense:1"), ("--conf: PyTorch 2.7 does not know 'nonsense'",)),
        ("tune", ("--conf", "nonsense:1"), ("--conf: PyTorch 2.7 does not know 'nonsense'",)),
        ("tune", ("--leave-free", ""), ("--leave-free: '' is not a size",)),
        ("tune", ("--leave-free", "-1"), ("--leave-free: '-1' is not a size",)),
        ("tune", ("--leave-free", "99999999TiB"), ("--leave-free: ", "more memory than there is")),
    ],
)
def test_options_of_one_command_that_mean_nothing(
    command: str, options: tuple[str, ...], parts: tuple[str, ...], tmp_path: Path
) -> None:
    assert_refused(gapless(command, write(tmp_path / "a.pickle"), *options), *parts)


def test_what_came_before_a_change_of_settings_must_be_right_too() -> None:
    assert_refused(gapless("conf", "backend:native", "--after", "nonsense:1"), "--after: ", "does not know 'nonsense'")


@pytest.mark.parametrize("command", ["explain", "replay", "tune"])
def test_settings_may_be_given_as_they_stand_in_a_script(command: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.pickle")
    bare, whole = "max_split_size_mb:64", "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64"

    answers = [gapless(command, path, "--conf", text, "--format", "json") for text in (bare, whole)]

    assert answers[0].returncode == 0
    assert answers[0].stdout == answers[1].stdout


def test_a_release_that_is_not_known_is_said(tmp_path: Path) -> None:
    done = gapless("explain", write(tmp_path / "a.pickle"), "--torch", "3.0")

    assert (done.returncode, done.stderr) == (0, "gapless: PyTorch 3.0 is not known yet; it is read as 2.14\n")


def test_two_files_are_one_too_many(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pickle")

    assert_refused(gapless("explain", path, path), "unrecognized arguments", "gapless explain FOLDER")


def test_an_empty_name_is_not_the_current_folder() -> None:
    assert_refused(gapless("explain", ""), "'' cannot be opened")


@pytest.mark.parametrize(
    "option",
    [
        ("--at", "oom"),
        ("--card", "24GiB"),
        ("--device", "0"),
        ("--torch", "2.6"),
        ("--leave-free", "1GiB"),
        ("--conf", "a:1"),
    ],
)
def test_options_that_a_log_cannot_answer(option: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("step 1\n")

    assert_refused(gapless("explain", path, *option), option[0], "a log has no events")


def test_a_snapshot_on_stdin() -> None:
    assert_refused(gapless("explain", "-", stdin=pickle.dumps(snapshot())), "give the snapshot as a file")


def test_a_name_that_is_not_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.pickle"

    assert_refused(gapless("explain", path), "caf\\udce9.pickle cannot be opened")


def test_a_card_of_nothing_is_the_recordings_fault_and_no_options(tmp_path: Path) -> None:
    oom = {"action": "oom", "device_free": 0, "size": 0, "stream": 0, "frames": [], "time_us": 5}
    path = tmp_path / "a.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [[oom]]}))

    assert gapless("explain", path).returncode == 0
    assert_refused(gapless("tune", path), "no memory could be had", "name a card with --card")
