"""Streams that are closed, full or no text, signals, and what a recording may put on a terminal."""

from __future__ import annotations

import json
import os
import pickle
import pty
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.run import GAPLESS, SETTINGS, gapless
from tests.integration.small import snapshot, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks for /dev/full and pseudo-terminals")
STEERS = "/opt/\x1b]0;title\x07\x1b[31mred\u202e.py"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write(tmp_path / "small.pickle")


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """A command line of bash in which `gapless` is the program."""
    program = f'gapless() {{ {shlex.join(GAPLESS)} "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **SETTINGS}
    )


@pytest.mark.parametrize(
    "command", ["explain {}", "explain {} --format json", "replay {}", "tune {}", "rule", "conf a:1"]
)
def test_output_that_cannot_be_written_is_one_message(command: str, small: Path) -> None:
    command = command.format(small)

    full, closed = shell(f"gapless {command} >/dev/full"), shell(f"gapless {command} >&-")

    assert (full.returncode, full.stderr) == (2, "gapless: the answer cannot be written: No space left on device\n")
    said = "gapless: standard output is closed, so the answer cannot be written\n"
    assert (closed.returncode, closed.stderr) == (2, said)


def test_a_failure_that_nobody_can_read_is_met_quietly(tmp_path: Path) -> None:
    done = shell(f"gapless explain {tmp_path}/missing --format json | true; echo ${{PIPESTATUS[0]}}")

    assert done.stdout in ("2\n", "141\n")  # 2 when all was written before the reader went
    assert done.stderr == f"gapless: {tmp_path}/missing cannot be opened: No such file or directory\n"
    assert shell(f"gapless explain {tmp_path}/missing >&- 2>&-").returncode == 2


@pytest.mark.parametrize("command", ["--help", "--version", "", "explain --help"])
@pytest.mark.parametrize("buffering", ["", "PYTHONUNBUFFERED=1"])
def test_help_that_cannot_be_written_is_one_message_too(command: str, buffering: str) -> None:
    done = shell(f"export {buffering}; gapless {command} >/dev/full")

    assert (done.returncode, done.stderr) == (2, "gapless: the answer cannot be written: No space left on device\n")


@pytest.mark.parametrize("buffering", ["", "PYTHONUNBUFFERED=1"])
def test_a_failure_whose_json_cannot_be_written_is_told_once(buffering: str, tmp_path: Path) -> None:
    done = shell(f"export {buffering}; gapless explain {tmp_path}/missing --format json >/dev/full")

    said = f"gapless: {tmp_path}/missing cannot be opened: No such file or directory\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_full_stderr_does_not_change_the_status(small: Path, tmp_path: Path) -> None:
    failed = shell(f"gapless explain {tmp_path}/missing --format json 2>/dev/full")
    noted = shell(f"gapless explain {small} --torch 3.0 2>/dev/full")

    assert (failed.returncode, json.loads(failed.stdout)["code"]) == (2, "input")
    assert (noted.returncode, noted.stdout.splitlines()[0]) == (0, "FRAG201 pinned-segments")
    assert shell(f"gapless explain {tmp_path}/missing >/dev/full 2>/dev/full").returncode == 2


def test_an_answer_needs_no_stderr(small: Path) -> None:
    assert shell(f"gapless explain {small} 2>&-").stdout.startswith("FRAG201 pinned-segments\n")


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ("<&-", "standard input is closed"),
        ("</dev/null", "stdin is empty, not a log"),
        ("< <(printf x | gzip)", "stdin is packed with gzip, not a log"),
        ("< <(head -c 500 /dev/zero)", "stdin is all zeros where it begins, not a log"),
    ],
)
def test_what_is_no_log_on_stdin_is_refused(stream: str, message: str) -> None:
    done = shell(f"gapless explain - {stream}")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0] == f"gapless: {message}"
    assert len(done.stderr.splitlines()) == 2


def on_a_terminal(*arguments: str | Path) -> str:
    """What a terminal is sent."""
    parent, child = pty.openpty()
    settings = {**os.environ, **SETTINGS, "TERM": "xterm"}
    settings.pop("NO_COLOR", None)
    done = subprocess.Popen([*GAPLESS, *map(str, arguments)], stdout=child, stderr=child, env=settings)
    os.close(child)
    found = b""
    try:
        while piece := os.read(parent, 1 << 16):
            found += piece
    except OSError:  # the other end was closed
        pass
    os.close(parent)
    done.wait(timeout=60)
    return found.decode()


def steering(tmp_path: Path) -> Path:
    """A recording whose source files have names that steer terminals."""
    value = snapshot()
    for event in value["device_traces"][0]:
        for frame in event["frames"]:
            frame["filename"] = STEERS
    path = tmp_path / "steers.pickle"
    path.write_bytes(pickle.dumps(value, protocol=4))
    return path


def test_names_of_files_do_not_steer_the_terminal(tmp_path: Path) -> None:
    path = steering(tmp_path)

    plain, coloured = gapless("explain", path).stdout, on_a_terminal("explain", path)

    assert "\\x1b[31mred\\u202e.py:105" in plain
    assert [char for char in plain if not char.isprintable() and char != "\n"] == []
    assert "\x1b[1;31mFRAG201 pinned-segments\x1b[0m" in coloured
    assert "\x1b]0;" not in coloured
    assert "\x1b[31m" not in coloured
    assert "\x07" not in coloured


def test_names_in_complaints_do_not_steer_it_either(tmp_path: Path) -> None:
    done = gapless("explain", tmp_path / "\x1b[31m\nmissing")

    assert done.stderr == f"gapless: {tmp_path}/\\x1b[31m\\nmissing cannot be opened: No such file or directory\n"


def test_markdown_is_not_broken_by_a_name(tmp_path: Path) -> None:
    value = snapshot()
    value["device_traces"][0][8]["frames"] = [{"filename": "a`b|c\n.py", "line": 3, "name": "f"}]
    path = tmp_path / "quoted.pickle"
    path.write_bytes(pickle.dumps(value, protocol=4))

    lines = gapless("explain", path, "--format", "markdown").stdout.splitlines()

    assert "| 4.00 MiB | 1 | activations | `a'b\\|c .py:3 f` |" in [
        line.replace("unknown", "activations") for line in lines
    ]


def test_interrupted_in_the_middle_it_ends_at_once_and_says_nothing() -> None:
    with subprocess.Popen(
        [*GAPLESS, "explain", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        running.stdin.write(b"step 1\n" * 100_000)  # more than a pipe holds: when it is written, reading has begun
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=20)

    assert (running.returncode, out, err) == (130, b"", b"")


def test_a_failure_is_json_on_a_closed_stderr_too(tmp_path: Path) -> None:
    done = shell(f"gapless explain {tmp_path}/missing --format json 2>&-")

    assert json.loads(done.stdout)["schema"] == "gapless.error/1"
