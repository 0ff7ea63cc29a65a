"""What `import gapless` brings along, and what it must not: it is imported by tools that have no time to lose."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("torch", "numpy", "rich")


def modules_loaded_by(statement: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after the statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("module", HEAVY)
def test_import_gapless_leaves_heavy_modules_alone(module: str) -> None:
    loaded = modules_loaded_by("import gapless")

    assert "gapless" in loaded
    assert module not in loaded


@pytest.mark.parametrize("module", ["numpy", "rich"])
def test_the_probe_sees_a_heavy_module(module: str) -> None:
    assert module in modules_loaded_by(f"import {module}")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["conf", "--help"], ["nonsense"]])
def test_module_and_program_are_the_same(arguments: list[str]) -> None:
    program = [str(Path(sys.executable).with_name("gapless"))]
    answers = [
        subprocess.run([*start, *arguments], capture_output=True, text=True, check=False)
        for start in (program, [sys.executable, "-m", "gapless"])
    ]

    assert answers[0].stdout + answers[0].stderr
    assert answers[0].returncode == (2 if arguments == ["nonsense"] else 0)
    assert len({(answer.returncode, answer.stdout, answer.stderr) for answer in answers}) == 1
