"""What the reader asks of an explanation, and what is known besides the file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gapless.errors import InputError

_AT = re.compile(r"oom(?::(\d{1,18}))?|peak|end|event:(\d{1,18})", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """Sizes are bytes; what is not said is taken from the recording."""

    at: str | None = None
    """``oom``, ``oom:K`` (0-based), ``peak``, ``end`` or ``event:N``; not said: the last failure, else the peak."""
    card_bytes: int | None = None
    """What PyTorch may reserve on the card that the run shall fit on; says nothing of the one it was recorded on."""
    recorded_card_bytes: int | None = None
    """What PyTorch could have reserved on the card that it was recorded on, had nobody else been there."""
    limit_bytes: int | None = None
    """Of a memory fraction, where it is known."""
    fraction: float | None = None
    """The memory fraction, where it is known; with `card_total_bytes` it gives the limit."""
    card_total_bytes: int | None = None
    """What the driver reports as the size of the card that it was recorded on."""
    outside_failure: str | None = None
    """Who ran out of memory instead of PyTorch (as "NCCL" or "cuBLAS"), where a log says so."""
    outside_request_bytes: int | None = None
    """What that one had asked for, where the log says it."""
    outside_is_sure: bool = True
    """Whether its error says that memory was the cause; else it is one cause of several."""
    leave_free_bytes: int = 0
    """Of the card, that others than PyTorch need."""
    places: int = 100
    """Holders kept, the largest first."""


@dataclass(frozen=True)
class At:
    """A moment as it was asked for; `number` is K of ``oom:K`` or N of ``event:N``."""

    name: str
    number: int | None = None


def parse_at(text: str) -> At:
    """A moment's name, taken apart.

    Raises:
        InputError: It is none of the forms.

    >>> parse_at("oom:2"), parse_at("peak")
    (At(name='oom', number=2), At(name='peak', number=None))
    """
    match = _AT.fullmatch(text)
    if not match:
        raise InputError(
            f"{text[:60]!r} is not a moment", hint="write oom, oom:0, peak, end or event:1234", where="--at"
        )
    number = match[1] or match[2]
    return At(text.partition(":")[0], int(number) if number else None)
