"""Readers of recordings: one file for each format; nothing of a format leaks out.

A format is a module with ``NAME``, ``matches(head)`` and ``read(content)``, as `gapless.sources.format` says. To add
one, add its file and its place in ``FORMATS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.errors import FormatError
from gapless.sources import memory_viz_html, torch_snapshot
from gapless.sources.content import GZIP_CAP, HEAD_BYTES, Content
from gapless.sources.guess import guess

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from gapless._core import Snapshot
    from gapless.sources.format import Format

__all__ = ["FORMATS", "open_snapshot"]

FORMATS: tuple[Format, ...] = (torch_snapshot, memory_viz_html)


def open_snapshot(
    path: str | PathLike[str], *, gzip_cap: int = GZIP_CAP, on_read: Callable[[int, int], None] | None = None
) -> Snapshot:
    """The snapshot in a file: a pickle or a page of PyTorch's memory_viz, plain or gzipped.

    Args:
        path: A regular file.
        gzip_cap: Most bytes that the file may yield, unpacked.
        on_read: Told now and then how many of how many bytes of the file are read.

    Raises:
        InputError: The file cannot be read.
        FormatError: It holds no snapshot, or one that is cut, corrupt or hostile.
    """
    with Content(path, cap=gzip_cap, on_read=on_read) as content:
        head = content.head(HEAD_BYTES)
        for known in FORMATS:
            if known.matches(head):
                return _read(known, content, path)
    seems, instead = guess(head)
    raise FormatError(f"{path} is {seems}, not a memory snapshot", hint=instead)


def _read(known: Format, content: Content, path: str | PathLike[str]) -> Snapshot:
    """The snapshot; a complaint about its bytes says in which file, and where."""
    try:
        return known.read(content)
    except FormatError as error:
        offset = [f"byte {error.offset:,}"] if error.offset >= 0 else []
        error.where = ", ".join([str(path), *offset, *([error.path] if error.path else [])])
        raise
