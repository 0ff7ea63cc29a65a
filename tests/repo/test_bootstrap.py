"""On a machine that lacks something, make says exactly what, in one line to copy, and touches nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repo.tree import ROOT

BASE_PYTHON = str(Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}"))
TOOLS = (
    *("bash", "basename", "cat", "cp", "dirname", "env", "find", "flock", "id", "mkdir"),
    *("mv", "paste", "rm", "sed", "sha256sum", "sort", "tail", "touch", "tr", "xargs"),
)


class Machine:
    """A checkout on a pretended machine: its PATH holds the usual tools and what a test adds."""

    def __init__(self, folder: Path) -> None:
        self.checkout = folder / "check out"  # a blank in the path on purpose
        self.bin = folder / "bin"
        self.bin.mkdir()
        shutil.copytree(ROOT / "scripts", self.checkout / "scripts")
        shutil.copy(ROOT / "pyproject.toml", self.checkout)
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, f"{tool} is not on this machine"
            (self.bin / tool).symlink_to(found)
        self.add("id", "echo 1000")

    def add(self, name: str, body: str) -> None:
        """Put a program made of shell lines on the PATH."""
        program = self.bin / name
        program.unlink(missing_ok=True)
        program.write_text(f"#!{self.bin}/bash\n{body}\n")
        program.chmod(0o755)

    def add_python(self, name: str = "python3", *, without: str = "nothing at all") -> None:
        """Put this Python on the PATH, failing where its program text has the word `without`."""
        self.add(name, f'case "$2" in *"{without}"*) exit 1 ;; *) exec "{BASE_PYTHON}" "$@" ;; esac')

    def bootstrap(self, what: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run scripts/bootstrap.sh there."""
        command = [str(self.bin / "bash"), str(self.checkout / "scripts/bootstrap.sh"), what]
        env = {"PATH": str(self.bin), **settings}
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)

    def missing(self, **settings: str) -> list[str]:
        """Packages that it says are missing."""
        done = self.bootstrap("missing", **settings)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_bare_machine_gets_one_line_and_nothing_is_made(machine: Machine) -> None:
    done = machine.bootstrap("test")

    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if line.startswith(" ")] == [
        "    sudo apt-get install -y python3 python3-venv python3-dev g++ make"
    ]
    assert sorted(os.listdir(machine.checkout)) == ["pyproject.toml", "scripts"]


def test_root_needs_no_sudo(machine: Machine) -> None:
    machine.add("id", "echo 0")

    assert "    apt-get install -y python3" in machine.bootstrap("run").stderr


def test_complete_machine_lacks_nothing(machine: Machine) -> None:
    machine.add_python()
    machine.add("g++", "exit 0")
    machine.add("make", "exit 0")

    assert machine.missing() == []


@pytest.mark.parametrize(
    ("without", "packages"),
    [
        ("version_info", ["python3", "python3-venv", "python3-dev"]),
        ("ensurepip", ["python3-venv"]),
        ("Python.h", ["python3-dev"]),
    ],
)
def test_each_part_of_python_is_asked_for_by_name(machine: Machine, without: str, packages: list[str]) -> None:
    machine.add_python(without=without)
    machine.add("c++", "exit 0")
    machine.add("make", "exit 0")

    assert machine.missing() == packages


def test_packages_of_a_chosen_python_carry_its_version(machine: Machine) -> None:
    machine.add_python("python3.12", without="ensurepip")
    machine.add("c++", "exit 0")
    machine.add("make", "exit 0")

    assert machine.missing(PYTHON="python3.12") == ["python3.12-venv"]
    assert machine.missing(PYTHON="python3.13") == ["python3.13", "python3.13-venv", "python3.13-dev"]


def test_a_compiler_without_cpp20_is_no_compiler(machine: Machine) -> None:
    machine.add_python()
    machine.add("make", "exit 0")
    machine.add("c++", "exit 1")
    machine.add("g++", "exit 1")

    assert machine.missing() == ["g++"]
    machine.add("clang++", "exit 0")
    assert machine.missing() == []


@pytest.mark.slow
def test_a_failed_download_says_so_and_is_tried_again(machine: Machine) -> None:
    machine.add_python()
    machine.add("c++", "exit 0")
    machine.add("make", "exit 0")
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}

    for _ in range(2):
        done = machine.bootstrap("run", **nowhere)

        assert done.returncode == 1
        assert "a download failed" in done.stderr
    assert not (machine.checkout / ".venv/gapless/tools-run").exists()
