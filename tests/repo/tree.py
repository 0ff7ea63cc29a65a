"""The files of this repository as its own tests see them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def tracked_files() -> list[Path]:
    """Files under version control or about to be, relative to the root; build products and caches are not.

    Without git, as in an unpacked archive, all files but those that .gitignore names.
    """
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
        return sorted(Path(name) for name in names if name and (ROOT / name).is_file())
    return sorted(files_not_ignored(ROOT, (ROOT / ".gitignore").read_text(encoding="utf-8").split()))


def files_not_ignored(root: Path, ignored: list[str]) -> Iterator[Path]:
    """Files below `root`, relative to it, less those that lines of a .gitignore name: `name/`, `*.x` or `/path/`."""
    ignored = [*ignored, "/.git"]
    for folder, folders, names in os.walk(root):
        here = Path(folder).relative_to(root)

        def is_kept(name: str, here: Path = here) -> bool:
            path = "/" + (here / name).as_posix()
            return not any(fnmatch(path if line[0] == "/" else name, line.rstrip("/")) for line in ignored)

        folders[:] = [name for name in folders if is_kept(name)]
        yield from (here / name for name in names if is_kept(name))


def read(path: Path) -> str:
    """Text of a file named relative to the root."""
    return (ROOT / path).read_text(encoding="utf-8")


def read_toml(path: Path) -> dict[str, Any]:
    """Contents of a TOML file named relative to the root."""
    return tomllib.loads(read(path))
