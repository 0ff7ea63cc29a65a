"""Our own declarations of CUDA's binary interface agree with NVIDIA's headers."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.differential.libraries import UnavailableError, cuda_include_folder

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("major", [12, 13])
def test_sizes_places_and_numbers_are_nvidias(major: int) -> None:
    compiler = shutil.which("c++") or shutil.which("g++")
    assert compiler is not None
    try:
        headers = cuda_include_folder(major)
    except UnavailableError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
    folders = [f"-I{folder}" for folder in (ROOT / "virtual_gpu", headers, ROOT / "tests/differential/standin")]
    command = [compiler, "-std=c++20", "-fsyntax-only", *folders, str(ROOT / "tests/virtual/check_abi.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
