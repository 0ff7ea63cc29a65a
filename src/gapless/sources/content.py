"""The bytes of a file, plain or gzipped, never more than a cap: a few kilobytes of gzip can yield terabytes."""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import TYPE_CHECKING, cast

from gapless.errors import FormatError, InputError
from gapless.sources.gunzip import MAGIC, Gunzip, unpacked_head
from gapless.units import GIB, MIB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

GZIP_CAP = 8 * GIB
WHOLE_CAP, WHOLE_RATIO = 64 * MIB, 64
"""Most bytes that are held at once of what was unpacked, or that many times the file's size, if that is more."""
HEAD_BYTES = 4096  # what is looked at to tell what a file is
_OTHER_KINDS = (
    (stat.S_ISDIR, "a directory", "give one file of it"),
    (stat.S_ISFIFO, "a pipe", "write what it yields to a file, and give that"),
    (stat.S_ISSOCK, "a socket", "give a file"),
    (stat.S_ISCHR, "a device", "give a file"),
    (stat.S_ISBLK, "a device", "give a file"),
)


class Content:
    """A regular file, open to be read once from front to back, unpacked.

    Args:
        path: The file.
        cap: Most bytes that it may yield.
        on_read: Told now and then how many of how many bytes of the file are read.

    Attributes:
        size: Bytes that it will yield; ``None`` where only unpacking can tell.

    Raises:
        InputError: The file cannot be opened, or is no regular file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        cap: int = GZIP_CAP,
        on_read: Callable[[int, int], None] | None = None,
    ) -> None:
        self._path = os.fspath(path)
        self._on_read = on_read
        self._cap = self._left = cap
        self._file = open_regular(self._path)
        self._is_gzip = self._peek(len(MAGIC)) == MAGIC
        self._source = Gunzip(self._file) if self._is_gzip else self._file
        self._size_on_disk = os.fstat(self._file.fileno()).st_size
        self.size = None if self._is_gzip else self._size_on_disk

    def __enter__(self) -> Content:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def head(self, count: int) -> bytes:
        """The first bytes, at any time; fewer than ``count`` where there are fewer.

        Raises:
            FormatError: The gzip is damaged before it yields anything.
        """
        packed = self._peek(count)
        if not self._is_gzip:
            return packed
        return unpacked_head(packed, count) or self._searched_head(count)

    def _searched_head(self, count: int) -> bytes:
        """The same where the beginning of the file yields nothing: it is damaged, empty, or has a long header."""
        try:
            with open_regular(self._path) as file:
                return Gunzip(file).read(count)
        except FormatError as error:
            error.where = self._path
            raise

    def readinto(self, buffer: memoryview) -> int:
        """Fills the front of a buffer with what comes next; the number of bytes, 0 at the end.

        Raises:
            InputError: The file cannot be read.
            FormatError: There are more bytes than the cap, or the gzip is damaged.
        """
        if self.size is not None and self.size > self._cap:
            raise self._too_large(f"holds {format_bytes(self.size)}")
        try:
            piece = self._source.read(len(buffer))
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror}", where=self._path) from error
        self._left -= len(piece)
        if self._left < 0:
            raise self._too_large("yields more than that when it is unpacked")
        buffer[: len(piece)] = piece
        if self._on_read:
            self._on_read(self._file.tell(), self._size_on_disk)
        return len(piece)

    def whole(self) -> bytearray:
        """All bytes that were not read yet. Raises as `readinto` does, and where a small file would fill the memory."""
        if self._is_gzip:
            self._cap = min(self._cap, max(WHOLE_CAP, WHOLE_RATIO * self._size_on_disk))
            self._left = min(self._left, self._cap)
        whole, piece = bytearray(), memoryview(bytearray(1 << 20))
        while count := self.readinto(piece):
            whole += piece[:count]
        return whole

    def _peek(self, count: int) -> bytes:
        try:
            return os.pread(self._file.fileno(), count, 0)
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror}", where=self._path) from error

    def _too_large(self, what: str) -> FormatError:
        message = f"{self._path} {what}; at most {format_bytes(self._cap)} are read"
        return FormatError(message, hint="record fewer events (max_entries), or raise the cap (gzip_cap)")


def open_regular(path: str) -> BinaryIO:
    """The file, open without waiting for a writer as a pipe would."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{path or repr(path)} cannot be opened: {reason}", where=path) from error
    mode = os.fstat(descriptor).st_mode
    for is_kind, kind, instead in _OTHER_KINDS:
        if is_kind(mode):
            os.close(descriptor)
            raise InputError(f"{path} is {kind}, not a file", hint=instead, where=path)
    return cast("BinaryIO", _Regular(descriptor, path))


class _Regular(io.FileIO):
    """An open file that says so where nothing is there yet, as in files that the kernel makes up."""

    def __init__(self, descriptor: int, path: str) -> None:
        super().__init__(descriptor, "rb")
        self._path = path

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes; none at the end."""
        piece: bytes | None = super().read(-1 if size is None else size)
        if piece is None:
            raise BlockingIOError(errno.EAGAIN, "nothing can be read from it now", self._path)
        return piece
