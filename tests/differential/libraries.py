"""The libraries of one PyTorch release: downloaded once, cut down to what the harness needs, kept in a cache folder.

From a wheel of 0.5 to 0.9 GB stay libc10.so, libc10_cuda.so, version.py and the c10 headers (about 4 MB); the wheel
itself is deleted. Of NVIDIA's runtime only the headers are taken: the runtime that the harness loads is our stand-in.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# One release of each minor version; other patch releases work as well.
RELEASES = ["2.1.2", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.0", "2.7.1"]
RELEASES += ["2.8.0", "2.9.1", "2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1"]

_TORCH_FILES = re.compile(r"torch/(lib/libc10(_cuda)?\.so|version\.py|include/(c10|torch/headeronly)/.*\.h)")
_CUDA_HEADERS = {12: "nvidia-cuda-runtime-cu12===12.9.79", 13: "nvidia-cuda-runtime===13.0.96"}
_CUDA_FILES = re.compile(r"nvidia/[^/]+/(include/.*\.(h|hpp))")
_PLATFORMS = [f"{tag}_x86_64" for tag in ("manylinux_2_28", "manylinux2014", "manylinux_2_17", "manylinux1", "linux")]


class UnavailableError(Exception):
    """A library that can be neither found in the cache nor downloaded or built; the text says why."""


def cache_folder() -> Path:
    """Where libraries and harnesses are kept: GAPLESS_DIFFERENTIAL_CACHE, or cache/ beside this file."""
    return Path(os.environ.get("GAPLESS_DIFFERENTIAL_CACHE") or Path(__file__).parent / "cache").absolute()


def minor_release(version: str) -> tuple[int, int]:
    """(2, 14) of "2.14.1"."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def torch_folder(version: str) -> Path:
    """The folder with torch/lib and torch/include of one release; downloads them the first time."""
    folder = cache_folder() / f"torch-{version}"
    if not folder.exists():
        _keep_from_wheel(f"torch==={version}", "0.5 to 0.9 GB, a minute or so", _TORCH_FILES, folder)
    if not (folder / "torch/lib/libc10_cuda.so").exists():
        raise UnavailableError(
            f"{folder} holds no torch/lib/libc10_cuda.so: the wheel of {version} is not a CUDA build"
        )
    return folder


def cuda_include_folder(major: int) -> Path:
    """The folder with the CUDA runtime's headers of one major release; downloads them the first time."""
    if major not in _CUDA_HEADERS:
        raise UnavailableError(f"no headers are known for libcudart.so.{major}; add them to {Path(__file__).name}")
    folder = cache_folder() / f"cuda-headers-{major}"
    if not folder.exists():
        _keep_from_wheel(_CUDA_HEADERS[major], "4 MB", _CUDA_FILES, folder)
    return next(folder.glob("nvidia/*/include"))


def settle(made: Path, folder: Path) -> None:
    """Give a finished folder its name, in one step; another process may have been quicker."""
    try:
        made.rename(folder)
    except OSError:
        if not folder.exists():
            raise


def _keep_from_wheel(requirement: str, size: str, wanted: re.Pattern[str], folder: Path) -> None:
    """Download one wheel, move the wanted files to folder in one step, delete the rest."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="download-") as scratch:
        print(f"downloading the wheel of {requirement} ({size}) ...", file=sys.stderr, flush=True)
        wheel = _download(requirement, Path(scratch))
        kept = Path(scratch) / "kept"
        with zipfile.ZipFile(wheel) as archive:
            for name in filter(wanted.fullmatch, archive.namelist()):
                archive.extract(name, kept)
        print(f"  {wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, kept {_size(kept) / 1e6:.1f} MB", file=sys.stderr)
        settle(kept, folder)


def _download(requirement: str, folder: Path) -> Path:
    """The wheel for x86-64 Linux and Python 3.11, whatever Python runs this (the libraries are the same for all)."""
    platforms = [word for tag in _PLATFORMS for word in ("--platform", tag)]
    abis = [word for abi in ("cp311", "abi3", "none") for word in ("--abi", abi)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir", "--only-binary=:all:"]
    command += ["--python-version", "3.11", "--implementation", "cp", *abis, *platforms, "--dest", str(folder)]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise UnavailableError(
            f"pip could not download {requirement}: {done.stderr.strip()[-1000:] or 'no wheel came'}"
        )
    return wheels[0]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
