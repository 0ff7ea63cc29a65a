"""Environments with a stock CUDA build of PyTorch, without NVIDIA's libraries: made once, kept in a cache folder.

    python -m tests.virtual.environments            the releases of `make test`
    python -m tests.virtual.environments 2.8.0 ...  others

An environment takes 1 to 2 GB: PyTorch's wheel (0.5 to 0.9 GB) and the pure Python packages that it needs. Gapless is
not installed into it; a .pth file shows it the environment that the tests run in.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.differential.libraries import UnavailableError, settle

IN_MAKE_TEST = ("2.6.0", "2.14.1")
"""Of a build for CUDA 12 and of one for CUDA 13; the oldest and the newest release that are served."""
_NEEDED = ["numpy", "filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec", "setuptools<81"]
_SITE = "import site; site.addsitedir({folder!r})\n"


def cache_folder() -> Path:
    """Where environments are kept: GAPLESS_VIRTUAL_CACHE, or cache/ beside this file."""
    return Path(os.environ.get("GAPLESS_VIRTUAL_CACHE") or Path(__file__).parent / "cache").absolute()


def folder_of(release: str) -> Path:
    """Where a release's environment is, or will be."""
    version = "".join(map(str, sys.version_info[:2]))
    return cache_folder() / f"torch-{release}-py{version}"


def python_of(release: str) -> Path:
    """The interpreter of a release's environment; makes it the first time.

    Raises:
        UnavailableError: It cannot be made; the text says why.
    """
    folder = folder_of(release)
    if not folder.exists():
        print(
            f"making an environment with PyTorch {release} (0.5 to 0.9 GB, a minute) ...", file=sys.stderr, flush=True
        )
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix="making-") as scratch:
            made = Path(scratch) / "environment"
            _make(release, made)
            settle(made, folder)
    python = folder / "bin/python"
    _show_gapless(python, folder)
    return python


def _make(release: str, folder: Path) -> None:
    venv.create(folder, with_pip=True, symlinks=True)
    pip = [
        str(folder / "bin/python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-cache-dir",
    ]
    for packages in (_NEEDED, ["--no-deps", f"torch==={release}"]):
        done = subprocess.run([*pip, *packages], capture_output=True, text=True, check=False)
        if done.returncode:
            raise UnavailableError(f"pip could not install {' '.join(packages)}: {done.stderr.strip()[-1000:]}")


def _show_gapless(python: Path, folder: Path) -> None:
    """The environment that the tests run in, which may have moved since."""
    site = next(folder.glob("lib/python*/site-packages"))
    ours = next(Path(sys.prefix).glob("lib/python*/site-packages"))
    text = _SITE.format(folder=str(ours))
    path = site / "zz_gapless.pth"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(releases: list[str]) -> int:
    """Make what is missing."""
    for release in releases or list(IN_MAKE_TEST):
        try:
            python_of(release)
        except UnavailableError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
