"""Recordings to test with: the shared ones, found beside the checkout or where GAPLESS_SHARED names them.

Without them the tests that need them are skipped and say so; with CI=true that is a failure.
"""

from __future__ import annotations

import gzip
import io
import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]


def shared_snapshots() -> list[Path]:
    """Every snapshot of the shared data; none where it is absent."""
    folder = Path(os.environ.get("GAPLESS_SHARED", ROOT.parent / "shared")) / "data" / "snapshots"
    return sorted(path for path in folder.glob("*/*") if ".pickle" in path.suffixes)


def each_shared_snapshot(where: Callable[[Path], bool] = lambda path: True) -> pytest.MarkDecorator:
    """Runs a test once for each shared snapshot that `where` admits, as its argument ``path``."""
    found = [path for path in shared_snapshots() if where(path)]
    if not found and os.environ.get("CI") != "true":
        missing = pytest.mark.skip(reason="the shared recordings are absent: set GAPLESS_SHARED")
        return pytest.mark.parametrize("path", [pytest.param(Path(), marks=missing, id="none")])
    ids = [path.name.partition(".pickle")[0] for path in found]
    return pytest.mark.parametrize("path", found or [Path("missing")], ids=ids or ["missing"])


def content_of(path: Path) -> bytes:
    """The bytes of a snapshot, unpacked."""
    content = path.read_bytes()
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


class _DataUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"{module}.{name} is asked for")

    def persistent_load(self, pid: object) -> NoReturn:
        raise pickle.UnpicklingError("something from outside is asked for")


def load_plainly(content: bytes) -> Any:
    """The objects of a pickle that holds data alone, as Python reads them."""
    return _DataUnpickler(io.BytesIO(content)).load()
