"""Bytes as people write and read them; always binary units (1 MiB = 2**20 bytes), as in PyTorch's own messages."""

from __future__ import annotations

import re

from gapless.errors import InputError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_FACTORS = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": GIB << 10}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(?:i?b?|bytes?)\s*", re.IGNORECASE)


def parse_bytes(text: str) -> int:
    """Bytes of a size like ``24GiB``, ``512 MiB``, ``80g`` or ``1024``.

    Units are binary, whether written GB or GiB: cards and PyTorch count so.

    Raises:
        InputError: The text is not a size.

    >>> parse_bytes("1.5GiB")
    1610612736
    """
    match = _SIZE.fullmatch(text)
    if not match:
        raise InputError(f"{text!r} is not a size", hint="write it like 24GiB, 512MiB or a number of bytes")
    number, factor = match[1], _FACTORS[match[2].lower()]
    return int(float(number) * factor) if "." in number else int(number) * factor


def format_bytes(count: int) -> str:
    """A size for people, in the form of PyTorch's messages.

    >>> format_bytes(1610612736), format_bytes(512), format_bytes(-2048)
    ('1.50 GiB', '512 bytes', '-2.00 KiB')
    """
    sign, size = ("-", -count) if count < 0 else ("", count)
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{sign}{size / unit:.2f} {name}"
    return f"{sign}{size} bytes"
