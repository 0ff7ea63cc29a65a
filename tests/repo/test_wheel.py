"""The wheel is small, needs no torch and runs where no compiler is."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import pytest

from scripts.check_wheel import PROBE, build_wheel, complaints, run_apart

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


def test_wheel_is_small_and_complete(wheel: Path) -> None:
    assert complaints(wheel) == []


def test_wheel_runs_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    done = run_apart(wheel, ["python", "-c", PROBE], tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
    assert not any((tmp_path / "venv/bin" / name).exists() for name in ("g++", "c++", "cc", "cmake", "ninja"))


def test_a_stray_file_in_the_wheel_is_found(wheel: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy(wheel, tmp_path))
    with zipfile.ZipFile(other, "a") as archive:
        archive.writestr("tests/a.py", "")

    assert complaints(other) == ["tests/a.py does not belong there"]
