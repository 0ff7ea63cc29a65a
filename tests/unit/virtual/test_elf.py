"""Reading what libraries need and offer, from the files."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from gapless.errors import InputError
from gapless.virtual.elf import read_exports, read_requirements
from gapless.virtual.installation import libraries_folder

if TYPE_CHECKING:
    from pathlib import Path

RUNTIME = libraries_folder() / "libcudart.so.13"
pytestmark = pytest.mark.skipif(not RUNTIME.exists(), reason="this build is without the pretend card")


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A library that calls the pretend runtime and exports one function."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    source = tmp_path / "user.c"
    source.write_text("int cudaMalloc(void**, unsigned long);\nint used(void) { void* p; return cudaMalloc(&p, 8); }\n")
    library = tmp_path / "libuser.so.1"
    command = [compiler, "-shared", "-fPIC", "-Wl,-soname,libuser.so.1", str(source), str(RUNTIME), "-o", str(library)]
    subprocess.run(command, check=True)
    return library


def test_what_a_library_needs_is_told_by_the_library_that_has_it(built: Path) -> None:
    needs = read_requirements(built)

    assert needs.soname == "libuser.so.1"
    assert "libcudart.so.13" in needs.libraries
    assert needs.symbols["libcudart.so.13"] == {"cudaMalloc"}


def test_what_a_library_offers(built: Path) -> None:
    assert "used" in read_exports(built)
    assert {"cudaMalloc", "cudaGetDeviceProperties"} <= read_exports(RUNTIME)


@pytest.mark.parametrize("size", [0, 10, 64, 700, 5000])
def test_a_file_that_is_cut_off_ends_in_one_message(built: Path, tmp_path: Path, size: int) -> None:
    cut = tmp_path / "cut.so"
    cut.write_bytes(built.read_bytes()[:size])

    with pytest.raises(InputError, match=r"cut\.so is not a shared library of 64-bit Linux, or it is damaged"):
        read_requirements(cut)


def test_another_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.so"
    other.write_bytes(b"\x7fELF\x01\x01" + bytes(100))

    with pytest.raises(InputError, match="is not a shared library"):
        read_exports(other)
