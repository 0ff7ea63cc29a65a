"""How the text of a log is encoded, told by its first bytes, and whether damaged bytes are text all the same."""

from __future__ import annotations

import codecs

from gapless.sources.guess import UNKNOWN, guess

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(code for code in [*range(1, 32), 127] if code not in b"\t\n\v\f\r\b\x1b")
_PLAIN = bytes([*range(32, 127), *b"\t\n\r"])
_LEAST_BYTES = 8  # fewer tell nothing
_PLAIN_SHARE, _CONTROLS_SHARE = 1 / 3, 1 / 32
_ZEROS_SHARE = 0.9  # of every second byte, in UTF-16 without a mark


def is_text(head: bytes) -> bool:
    """Whether bytes begin a text, maybe a damaged one."""
    kind = guess(head)[0]
    is_known = kind in {"text", "JSON"} or encoding_of(head) is not None
    return is_known or (kind in UNKNOWN and is_damaged_text(head))


def encoding_of(head: bytes) -> tuple[str, int] | None:
    """The encoding of text with more than one byte a character, and the length of its mark; None for all else.

    >>> encoding_of(b"\\xff\\xfes\\0t\\0"), encoding_of(b"step 1")
    (('utf-16-le', 2), None)
    """
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name, len(mark)
    if len(head) < _LEAST_BYTES:
        return None
    for name, high, low in (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2])):
        if high.count(0) >= _ZEROS_SHARE * len(high) and not low.count(0) and is_damaged_text(low):
            return name, 0
    return None


def is_damaged_text(head: bytes) -> bool:
    """Whether bytes that are no clean text are text for the most part: holes of zeros, a torn start, an old encoding.

    Data has control characters all over, one in ten where it is packed; text has next to none.
    """
    rest = head.replace(b"\0", b"")
    plain = len(rest) - len(rest.translate(None, _PLAIN))
    controls = len(rest) - len(rest.translate(None, _CONTROLS))
    return len(rest) >= _LEAST_BYTES and plain >= _PLAIN_SHARE * len(rest) and controls <= _CONTROLS_SHARE * len(rest)
