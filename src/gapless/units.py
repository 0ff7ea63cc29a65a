"""Bytes as people write and read them; always binary units (1 MiB = 2**20 bytes), as in PyTorch's own messages."""

from __future__ import annotations

import re

from gapless.errors import InputError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
_FACTORS = {"": 1, "k": KIB, "m": MIB, "g": GIB, "t": GIB << 10, "p": GIB << 20}
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgtp]?)(?:i?b?|bytes?)\s*", re.IGNORECASE | re.ASCII)
_SHOWN_CHARS = 60
LARGEST_BYTES = 1 << 50
"""Beyond it is no memory."""


def parse_bytes(text: str, where: str = "") -> int:
    """Bytes of a size like ``24GiB``, ``512 MiB``, ``80g`` or ``1024``.

    Units are binary, whether written GB or GiB: cards and PyTorch count so.

    Args:
        text: The size.
        where: The option that it was given for.

    Raises:
        InputError: The text is not a size, or one beyond all memory.

    >>> parse_bytes("1.5GiB")
    1610612736
    """
    match = _SIZE.fullmatch(text)
    if not match:
        hint = "write it like 24GiB, 512MiB or a number of bytes"
        raise InputError(f"{text[:_SHOWN_CHARS]!r} is not a size", hint=hint, where=where)
    number, factor = match[1], _FACTORS[match[2].lower()]
    whole = number.partition(".")[0]
    if len(whole) > len(str(LARGEST_BYTES)) or float(number) * factor > LARGEST_BYTES:
        hint = f"the largest that can be said is {format_bytes(LARGEST_BYTES)}"
        raise InputError(f"{text[:_SHOWN_CHARS]!r} is more memory than there is", hint=hint, where=where)
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
