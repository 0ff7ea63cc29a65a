"""Numbers as the C++ library reads them: leading digits count, what follows them is ignored, negative values wrap.

PyTorch reads its options with std::stoi and std::stoul (up to 2.9), std::stoull (from 2.10) and std::stod. Each raises
an error whose whole text is the function's name; here that is `NumberError`.
"""

from __future__ import annotations

import math
import re

UNSIGNED_BITS = 64
_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?)(\d+)", re.ASCII)
_REAL = re.compile(
    r"[ \t\n\v\f\r]*([+-]?)(?:(inf(?:inity)?|nan)|0x((?:[\da-f]+\.?[\da-f]*|\.[\da-f]+)(?:p[+-]?\d+)?)"
    r"|((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?))",
    re.ASCII | re.IGNORECASE,
)
_SMALLEST_NORMAL = 2.2250738585072014e-308
_LONGEST_INTEGER = 20
"""Digits of 2**64; Python refuses to read thousands of digits."""


class NumberError(Exception):
    """The text does not begin with a number, or the number does not fit; its text is the C++ function's name."""


def _integer(text: str, function: str) -> tuple[bool, int]:
    match = _INTEGER.match(text)
    digits = match[2].lstrip("0") if match else ""
    if match is None or len(digits) > _LONGEST_INTEGER:
        raise NumberError(function)
    return match[1] == "-", int(digits or "0")


def stoi(text: str) -> int:
    """A 32-bit integer, widened to 64 unsigned bits as PyTorch stores it.

    >>> stoi("100garbage"), stoi("-5") == 2**64 - 5
    (100, True)
    """
    negative, size = _integer(text, "stoi")
    if size > (1 << 31) - (0 if negative else 1):
        raise NumberError("stoi")
    return (-size if negative else size) % (1 << UNSIGNED_BITS)


def stoull(text: str, function: str = "stoull") -> int:
    """A 64-bit unsigned integer; a minus sign wraps around.

    >>> stoull("-1") == 2**64 - 1
    True
    """
    negative, size = _integer(text, function)
    if size >= 1 << UNSIGNED_BITS:
        raise NumberError(function)
    return (-size if negative else size) % (1 << UNSIGNED_BITS)


def stoul(text: str) -> int:
    """The same as `stoull` on 64-bit systems, under its older name."""
    return stoull(text, "stoul")


def stod(text: str) -> float:
    """A real number; hexadecimal, inf and nan included. Values too large or too small to hold are refused.

    >>> stod("0.5x"), stod("0x1p-3"), stod("0x")
    (0.5, 0.125, 0.0)
    """
    match = _REAL.match(text)
    if match is None:
        raise NumberError("stod")
    sign, word, hexadecimal, decimal = match.groups()
    if word:
        value = float(word[:3])
    elif hexadecimal:
        value = _from_hexadecimal(hexadecimal)
    else:
        value = float(decimal)
        mantissa = re.split("[eE]", decimal)[0]
        if math.isinf(value) or (value < _SMALLEST_NORMAL and mantissa.strip("0.")):
            raise NumberError("stod")
    return -value if sign == "-" else value


def _from_hexadecimal(digits: str) -> float:
    try:
        return float.fromhex("0x" + digits)
    except OverflowError:
        raise NumberError("stod") from None
