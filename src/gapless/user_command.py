"""The user's own command, as it stands behind the options of `gapless run` and `gapless record`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gapless.errors import InputError


def command_of(words: Sequence[str], example: str) -> list[str]:
    """The command that the words after the options mean: a script, `-m` a module, or a program on PATH.

    Args:
        words: As they were given.
        example: What to say to somebody who gave none.

    Raises:
        InputError: There is no such script or program.
    """
    if not words:
        raise InputError("nothing to run", hint=f"{example} train.py, or -m package, or torchrun ...")
    first = words[0]
    if first in {"-m", "-c"}:
        return [sys.executable, *words]
    if first.endswith(".py") or Path(first).is_dir():
        if not Path(first).exists():
            raise InputError(f"there is no {first}", hint=f"gapless looks for it in {os.getcwd()}")
        return [sys.executable, *words]
    if Path(first).name.startswith("python") and shutil.which(first):
        return list(words)
    beside = Path(sys.executable).parent / first
    program = str(beside) if beside.exists() else shutil.which(first)
    if program is None:
        raise InputError(f"there is no script or program {first}", hint="a script ends in .py; a module needs -m")
    return [program, *words[1:]]


def wait(process: subprocess.Popen[bytes]) -> int:
    """An interrupt goes to the command, which decides; we wait for it."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)


def status_of(returncode: int) -> int:
    """The exit status of a command that ended so: 128 and the signal's number where a signal ended it, as shells do.

    >>> status_of(3), status_of(-9)
    (3, 137)
    """
    return returncode if returncode >= 0 else 128 - returncode
