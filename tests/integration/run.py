"""Runs the program as a shell would."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GAPLESS = [sys.executable, "-m", "gapless"]
SETTINGS = {"COLUMNS": "80", "LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "utf-8"}


def gapless(*arguments: str | bytes | Path, stdin: bytes = b"", **settings: str) -> subprocess.CompletedProcess[str]:
    """One call: its status, and what it wrote to either stream."""
    return run([*GAPLESS, *arguments], stdin=stdin, **settings)


def run(
    command: Sequence[str | bytes | Path], *, stdin: bytes = b"", **settings: str
) -> subprocess.CompletedProcess[str]:
    """The same of any program."""
    done = subprocess.run(
        [os.fspath(word) for word in command],
        input=stdin,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, **SETTINGS, **settings},
    )
    out, err = (stream.decode("utf-8", "surrogateescape") for stream in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)
