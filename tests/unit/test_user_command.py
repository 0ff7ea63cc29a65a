"""The user's own command: how it is found, waited for, and what its end means."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gapless.errors import InputError
from gapless.user_command import command_of, status_of, wait


def test_a_script_runs_with_this_python(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("")

    assert command_of([str(script), "--batch", "8"], "gapless run") == [sys.executable, str(script), "--batch", "8"]
    assert command_of(["-m", "train"], "") == [sys.executable, "-m", "train"]
    assert command_of(["python", "-V"], "") == ["python", "-V"]


def test_a_program_of_the_same_environment_comes_first() -> None:
    (program, *rest) = command_of(["pip", "--version"], "")

    assert program.startswith(sys.prefix)
    assert rest == ["--version"]


def test_no_words_are_no_command() -> None:
    with pytest.raises(InputError, match="nothing to run") as raised:
        command_of([], "gapless record")

    assert raised.value.hint == "gapless record train.py, or -m package, or torchrun ..."


def test_a_command_is_waited_for() -> None:
    process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"])

    assert status_of(wait(process)) == 7
