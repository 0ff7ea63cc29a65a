"""Opens a log of any usual form: plain, gzip (rotated logs), UTF-8 or UTF-16 (PowerShell's ``>``)."""

from __future__ import annotations

import codecs
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from os import PathLike
from typing import BinaryIO

from gapless.errors import InputError
from gapless.sources.content import HEAD_BYTES, open_regular
from gapless.sources.encoding import encoding_of, is_text
from gapless.sources.log.scan import LogScan
from gapless.sources.log.stream import scan_chunks

CHUNK_BYTES = 1 << 20
UNPACKED_BYTES_LEAST, UNPACKED_RATIO = 256 << 20, 128
"""A gzip file may yield so much, or that many times its own size, if that is more: several times what logs do."""
_GZIP_MAGIC, _GZIP_WBITS = b"\x1f\x8b", 31


def is_log(head: bytes) -> bool:
    """Whether a file that begins with `head`, unpacked, can be a log: text, and not a page or a table of data.

    >>> is_log(b"[rank0]: Traceback (most recent call last):"), is_log(b"\\x80\\x04\\x95"), is_log(b"<!DOCTYPE html>")
    (True, False, False)
    """
    if not head or head[:1] == b"\x80" or head.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        return False
    return is_text(head)


def read_log(path: str | PathLike[str], *, progress: Callable[[int], None] | None = None) -> LogScan:
    """Scan the log in a file.

    Args:
        path: A text file, plain or gzip; a gzip file that was cut is read as far as it goes.
        progress: Called with the bytes of text read so far.

    Raises:
        InputError: The file cannot be read, or is no regular file.
    """
    with open_regular(str(path)) as file:
        try:
            packed = file.read(2) == _GZIP_MAGIC
            file.seek(0)
            chunks = _Gunzip(file) if packed else iter(lambda: file.read(CHUNK_BYTES), b"")
            scan = scan_chunks(ascii_superset(iter(chunks)), progress=progress)
        except (OSError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{path} cannot be read: {reason}", where=str(path)) from error
    is_cut = isinstance(chunks, _Gunzip) and chunks.is_cut
    return replace(scan, is_complete=scan.is_complete and not is_cut)


class _Gunzip:
    """The unpacked chunks of a gzip file, as far as it goes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        size = os.fstat(self._file.fileno()).st_size
        most = left = max(UNPACKED_BYTES_LEAST, UNPACKED_RATIO * size)
        stream = zlib.decompressobj(_GZIP_WBITS)
        packed = self._file.read(CHUNK_BYTES)
        while packed:
            chunk = stream.decompress(packed, CHUNK_BYTES)
            left -= len(chunk)
            if left < 0:
                raise OSError(f"its gzip unpacks to more than {most >> 20:,} MiB; unpack it first, if it is a log")
            if chunk:
                yield chunk
            packed = stream.unconsumed_tail
            if stream.eof:  # another member may follow; zeros are padding
                packed = stream.unused_data.lstrip(b"\0") or self._file.read(CHUNK_BYTES).lstrip(b"\0")
                stream = zlib.decompressobj(_GZIP_WBITS) if packed else stream
            packed = packed or self._file.read(CHUNK_BYTES)
        self.is_cut = not stream.eof


def ascii_superset(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """UTF-16 and UTF-32 as UTF-8; everything else as it is."""
    first = next(chunks, b"")
    encoding = encoding_of(first[:HEAD_BYTES])
    if not encoding:
        yield first
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(encoding[0])("replace")
    yield decoder.decode(first[encoding[1] :]).encode("utf-8", "replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
