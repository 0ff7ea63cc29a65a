"""The bytes of a file, plain or gzipped, never more than a cap: a few kilobytes of gzip can yield terabytes."""

from __future__ import annotations

import os
import stat
import zlib
from typing import BinaryIO

from gapless.errors import FormatError, InputError
from gapless.units import GIB, format_bytes

GZIP_CAP = 8 * GIB
HEAD_BYTES = 4096
_CHUNK_BYTES = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WBITS = 31  # zlib's word for: a gzip header and checksum around the data
_OTHER_KINDS = (
    (stat.S_ISDIR, "a directory", "give one file of it"),
    (stat.S_ISFIFO, "a pipe", "write what it yields to a file, and give that"),
    (stat.S_ISSOCK, "a socket", "give a file"),
    (stat.S_ISCHR, "a device", "give a file"),
    (stat.S_ISBLK, "a device", "give a file"),
)


class Content:
    """A regular file, open for reading.

    Args:
        path: The file.
        cap: Most bytes that `whole` yields, after decompression.

    Raises:
        InputError: The file cannot be opened, or is no regular file.
    """

    def __init__(self, path: str | os.PathLike[str], *, cap: int = GZIP_CAP) -> None:
        self._path = os.fspath(path)
        self._cap = cap
        self._file = open_regular(self._path)

    def __enter__(self) -> Content:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def head(self, count: int) -> bytes:
        """The first bytes, decompressed; fewer than ``count`` where the file has fewer or its gzip is damaged."""
        self._file.seek(0)
        raw = self._read(count)
        if not raw.startswith(_GZIP_MAGIC):
            return raw
        try:
            return zlib.decompressobj(_GZIP_WBITS).decompress(raw, count)
        except zlib.error:
            return b""

    def whole(self) -> bytes | bytearray:
        """All bytes, decompressed.

        Raises:
            FormatError: There are more than the cap, or the gzip is damaged.
        """
        self._file.seek(0)
        size = os.fstat(self._file.fileno()).st_size
        is_gzip = self._read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
        self._file.seek(0)
        if is_gzip:
            return self._gunzip()
        if size > self._cap:
            raise self._too_large(f"holds {format_bytes(size)}")
        return self._read(size)

    def _read(self, count: int) -> bytes:
        try:
            return self._file.read(count)
        except OSError as error:
            raise InputError(f"{self._path} cannot be read: {error.strerror}", where=self._path) from error

    def _gunzip(self) -> bytearray:
        whole = bytearray()
        stream = zlib.decompressobj(_GZIP_WBITS)
        packed = self._read(_CHUNK_BYTES)
        while packed:
            try:
                whole += stream.decompress(packed, _CHUNK_BYTES)
            except zlib.error as error:
                hint = "copy or record it again"
                raise FormatError(f"{self._path}: the gzip is damaged: {error}", hint=hint) from error
            if len(whole) > self._cap:
                raise self._too_large("yields more than that when it is decompressed")
            packed = stream.unconsumed_tail
            if stream.eof:  # another member may follow; zeros are padding
                packed = stream.unused_data.lstrip(b"\0")
                packed = packed or self._read(_CHUNK_BYTES).lstrip(b"\0")
                stream = zlib.decompressobj(_GZIP_WBITS) if packed else stream
            packed = packed or self._read(_CHUNK_BYTES)
        if not stream.eof:
            raise FormatError(f"{self._path}: the gzip ends early", hint="it was cut: copy or record it again")
        return whole

    def _too_large(self, what: str) -> FormatError:
        return FormatError(
            f"{self._path} {what}; at most {format_bytes(self._cap)} are read",
            hint="record fewer events (max_entries), or raise the cap (gzip_cap)",
        )


def open_regular(path: str) -> BinaryIO:
    """The file, open without waiting for a writer as a pipe would."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{path} cannot be opened: {reason}", where=path) from error
    mode = os.fstat(descriptor).st_mode
    for is_kind, kind, instead in _OTHER_KINDS:
        if is_kind(mode):
            os.close(descriptor)
            raise InputError(f"{path} is {kind}, not a file", hint=instead, where=path)
    return os.fdopen(descriptor, "rb")
