"""Unpacks gzip as it is asked for, so that what it yields is bounded by who asks."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from gapless.errors import FormatError

if TYPE_CHECKING:
    from typing import BinaryIO

MAGIC = b"\x1f\x8b"
_WBITS = 31  # zlib's word for: a gzip header and checksum around the data
_PACKED_BYTES = 1 << 18  # read at a time


def unpacked_head(packed: bytes, count: int) -> bytes:
    """The first bytes that a gzip yields; fewer, or none, where it is cut or damaged."""
    try:
        return zlib.decompressobj(_WBITS).decompress(packed, count)
    except zlib.error:
        return b""


class Gunzip:
    """What a gzip file yields, all its members one after the other, zeros behind them passed over.

    Args:
        file: Open at its start.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._member = zlib.decompressobj(_WBITS)
        self._packed = b""

    def read(self, count: int) -> bytes:
        """Between 1 and ``count`` bytes; none at the end.

        Raises:
            FormatError: The gzip is cut or damaged.
        """
        while True:
            packed = self._packed or self._file.read(_PACKED_BYTES)
            if not packed and not self._member.eof:
                raise FormatError("the gzip ends early", hint="it was cut: copy or record it again")
            if not packed:
                return b""
            if self._member.eof:
                packed = packed.lstrip(b"\0")
                self._member = zlib.decompressobj(_WBITS) if packed else self._member
            piece = self._unpack(packed, count) if packed else b""
            if piece:
                return piece

    def _unpack(self, packed: bytes, count: int) -> bytes:
        try:
            piece = self._member.decompress(packed, count)
        except zlib.error as error:
            raise FormatError(f"the gzip is damaged ({error})", hint="copy or record it again") from error
        self._packed = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
        return piece
