"""Bad input of any kind ends in one clear message on stderr, nothing on stdout, and status 2."""

from __future__ import annotations

import gzip
import os
import pickle
import subprocess
from pathlib import Path

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


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pickle")
    path.chmod(0)

    assert_refused(gapless("explain", path), "Permission denied")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--device", "3"), ("no device 3; it has 0",)),
        (("--device", "x"), ("--device", "'x'")),
        (("--at", "nonsense"), ("--at: 'nonsense' is not a moment", "oom:0")),
        (("--at", "oom:7"), ("failure 7", "has 1")),
        (("--at", "event:99"), ("event 99", "14 events")),
        (("--card", "nonsense"), ("no card is known as 'nonsense'", "h100-80g")),
        (("--torch", "nonsense"), ("'nonsense' is not a PyTorch version",)),
        (("--fail-on", "nonsense"), ("--fail-on: 'nonsense' is not known",)),
        (("--format", "yaml"), ("--format", "yaml")),
        (("--frobnicate",), ("--frobnicate",)),
        (("another",), ("another",)),
    ],
)
def test_options_that_mean_nothing(options: tuple[str, ...], parts: tuple[str, ...], tmp_path: Path) -> None:
    assert_refused(gapless("explain", write(tmp_path / "a.pickle"), *options), *parts)


@pytest.mark.parametrize("option", [("--at", "oom"), ("--card", "24GiB"), ("--device", "0")])
def test_options_that_a_log_cannot_answer(option: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("step 1\n")

    assert_refused(gapless("explain", path, *option), option[0], "a log has no events")


def test_a_snapshot_on_stdin() -> None:
    assert_refused(gapless("explain", "-", stdin=pickle.dumps(snapshot())), "give the snapshot as a file")


def test_a_name_that_is_not_text(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.pickle"

    assert_refused(gapless("explain", path), "caf\\udce9.pickle cannot be opened")
