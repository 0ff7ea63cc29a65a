"""The files of this repository as its own tests see them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def tracked_files() -> list[Path]:
    """Files under version control or about to be, relative to the root; build products and caches are not."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return sorted(Path(name) for name in names if name and (ROOT / name).is_file())


def read(path: Path) -> str:
    """Text of a file named relative to the root."""
    return (ROOT / path).read_text(encoding="utf-8")


def read_toml(path: Path) -> dict[str, Any]:
    """Contents of a TOML file named relative to the root."""
    return tomllib.loads(read(path))
