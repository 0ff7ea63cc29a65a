"""Which PyTorch is installed, and what is said where the pretend card cannot serve it."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from gapless.errors import InputError
from gapless.virtual import installation
from gapless.virtual.installation import find_torch, libraries_folder

if TYPE_CHECKING:
    from pathlib import Path

needs_card = pytest.mark.skipif(
    not (libraries_folder() / "libgapless_card.so").exists(), reason="this build is without the pretend card"
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on sys.path, before any real PyTorch."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def install(site: Path, version: str) -> Path:
    """A PyTorch that consists of its version."""
    folder = site / "torch"
    (folder / "lib").mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('must not be imported')\n")
    (folder / "version.py").write_text(version)
    return folder


@needs_card
def test_a_cuda_build_is_found_without_importing_it(site: Path) -> None:
    install(site, "__version__ = '2.9.1+cu128'\ncuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n")

    found = find_torch()

    assert (found.version, found.cuda) == ("2.9.1+cu128", "12.8")
    assert [path.name for path in found.libraries] == ["libgapless_card.so", "libcuda.so.1", "libnvidia-ml.so.1"]
    assert "torch" not in sys.modules


def test_a_build_for_the_cpu_alone_is_refused(site: Path) -> None:
    install(site, "__version__ = '2.9.1+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None\n")

    with pytest.raises(InputError, match=r"PyTorch 2\.9\.1\+cpu is a build for the CPU alone"):
        find_torch()


def test_a_build_for_rocm_is_refused(site: Path) -> None:
    install(site, "__version__ = '2.9.1+rocm6.4'\ncuda: Optional[str] = None\nhip: Optional[str] = '6.4.43482'\n")

    with pytest.raises(InputError, match="is a build for AMD's ROCm"):
        find_torch()


def test_without_pytorch_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation.importlib.util, "find_spec", lambda name: None)

    with pytest.raises(InputError, match="PyTorch is not installed in this Python") as caught:
        find_torch()
    assert caught.value.hint.startswith("pip install torch")


@pytest.mark.parametrize(("system", "machine"), [("darwin", "arm64"), ("win32", "AMD64"), ("linux", "aarch64")])
def test_other_systems_are_told_what_works_there(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr(installation.sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)

    with pytest.raises(InputError, match="for Linux on x86-64") as caught:
        find_torch()
    assert "gapless explain, replay and tune need neither a GPU nor PyTorch" in caught.value.hint


@needs_card
def test_an_unknown_build_is_refused_by_the_names_that_are_missing(site: Path, tmp_path: Path) -> None:
    folder = install(site, "__version__ = '9.0.0'\ncuda: Optional[str] = '13.9'\nhip: Optional[str] = None\n")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "new.c"
    source.write_text(
        "int cuBrandNew(void);\nint cudaMalloc(void);\nint used(void) { return cuBrandNew() + cudaMalloc(); }\n"
    )
    target = folder / "lib/libtorch_cuda.so"
    runtime = str(libraries_folder() / "libcudart.so.13")
    subprocess.run([compiler, "-shared", "-fPIC", str(source), runtime, "-o", str(target)], check=True)

    with pytest.raises(InputError, match=r"PyTorch 9\.0\.0 needs what the pretend card does not have: .*cuBrandNew"):
        find_torch()
