"""What a test may take, as its marker says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gapless.cards import Card, find_card
from gapless.errors import InputError
from gapless.pytest_plugin import MARKER
from gapless.units import parse_bytes

if TYPE_CHECKING:
    import pytest

_KNOWN = ("card", "max_reserved", "max_allocated", "gpus", "conf", "repeats", "max_growth")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The card, and the most that a test may take of it; sizes are bytes, None is no limit."""

    card: Card
    max_reserved_bytes: int | None = None
    max_allocated_bytes: int | None = None
    gpus: int = 1
    conf: str | None = None
    repeats: int = 1
    """How often the test's function is called; from 3 on, what stays allocated is compared between calls."""
    max_growth_bytes: int = 0
    """That a call may leave more than the one before it."""


def limits_of(item: pytest.Item) -> Limits:
    """What the closest marker of a test says.

    Raises:
        InputError: It has no card, an unknown word, or a value that is not understood.
    """
    mark = item.get_closest_marker(MARKER)
    given: dict[str, Any] = dict(mark.kwargs) if mark else {}
    unknown = next((name for name in given if name not in _KNOWN), None)
    if unknown is not None or (mark and mark.args):
        what = f"does not know {unknown!r}" if unknown else "takes its values by name"
        raise InputError(f"{MARKER} {what}", hint=f"known: {', '.join(_KNOWN)}", where=item.nodeid)
    if "card" not in given:
        raise InputError(f"{MARKER} needs a card", hint='write card="24GiB"', where=item.nodeid)
    return Limits(
        card=find_card(str(given["card"]), item.nodeid),
        max_reserved_bytes=_size(given, "max_reserved"),
        max_allocated_bytes=_size(given, "max_allocated"),
        gpus=int(given.get("gpus", 1)),
        conf=given.get("conf"),
        repeats=int(given.get("repeats", 1)),
        max_growth_bytes=_size(given, "max_growth") or 0,
    )


def _size(given: dict[str, Any], name: str) -> int | None:
    value = given.get(name)
    return parse_bytes(str(value), name) if value is not None else None
