"""The pieces of a settings string: words and the four signs , : [ ] with their places in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

_PIECE = re.compile(r"[,:\[\]]|[^,:\[\]]+")
SIGNS = frozenset(",:[]")


class Token(NamedTuple):
    """A word or a sign."""

    text: str
    """Without the blanks that PyTorch drops, inside it too."""
    start: int
    """Character of the settings string at which it begins."""


class Tokens:
    """The pieces of a settings string, as PyTorch cuts it; cut as far as somebody looks.

    Args:
        text: The settings string.
        blanks: The characters that this release ignores wherever they stand.

    >>> Tokens("max_split_size_mb: 1 0 0", " ")[2]
    Token(text='100', start=19)
    """

    def __init__(self, text: str, blanks: str) -> None:
        self.text = text
        self._blanks = blanks
        self._seen: list[Token] = []
        self._rest = self._cut()

    def has(self, at: int) -> bool:
        """Whether there is a piece of this index."""
        while len(self._seen) <= at:
            token = next(self._rest, None)
            if token is None:
                return False
            self._seen.append(token)
        return True

    def __getitem__(self, at: int) -> Token:
        if not self.has(at):
            raise IndexError(at)
        return self._seen[at]

    def may_hold(self, word: str) -> bool:
        """False when no piece can be this word."""
        return word in self.text.translate(str.maketrans("", "", self._blanks))

    def _cut(self) -> Iterator[Token]:
        dropped = str.maketrans("", "", self._blanks)
        for match in _PIECE.finditer(self.text):
            piece = match[0]
            if piece in SIGNS:
                yield Token(piece, match.start())
            elif word := piece.translate(dropped):
                yield Token(word, match.end() - len(piece.lstrip(self._blanks)))


@dataclass(frozen=True)
class Item:
    """One "key:value" of a settings string as a person reads it: items end at commas outside brackets."""

    key: str
    value: str | None
    """None when there is no colon."""
    start: int
    end: int
    """Characters [start, end) of the settings string, blanks around it excluded."""


_BLANKS = " \t\n\v\f\r"
_ITEM = re.compile(r"(?:[^,\[]+|\[[^\]]*(?:\]|$))+")


def items_of(text: str) -> list[Item]:
    """The items of a settings string, whatever its state; never fails, and joins nothing that PyTorch keeps apart.

    >>> [(item.key, item.value) for item in items_of("a:1, b:[2:3,>:4],c")]
    [('a', '1'), ('b', '[2:3,>:4]'), ('c', None)]
    """
    return [_item(match) for match in _ITEM.finditer(text) if match[0].strip(_BLANKS)]


def _item(match: re.Match[str]) -> Item:
    raw = match[0]
    start = match.start() + len(raw) - len(raw.lstrip(_BLANKS))
    end = match.start() + len(raw.rstrip(_BLANKS))
    key, colon, value = raw.strip(_BLANKS).partition(":")
    if not colon:
        return Item(_squeezed(key), None, start, end)
    return Item(_squeezed(key), _squeezed(value), start, end)


def _squeezed(text: str) -> str:
    return text.translate(str.maketrans("", "", _BLANKS))
