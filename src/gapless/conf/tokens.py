"""The pieces of a settings string: words and the four signs , : [ ] with their places in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PIECE = re.compile(r"[,:\[\]]|[^,:\[\]]+")
SIGNS = frozenset(",:[]")


@dataclass(frozen=True)
class Token:
    """A word or a sign.

    >>> tokens_of("max_split_size_mb: 1 0 0", " ")[2]
    Token(text='100', start=19, end=24)
    """

    text: str
    """Without the blanks that PyTorch drops, inside it too."""
    start: int
    end: int
    """Characters [start, end) of the settings string, blanks around it excluded."""


def tokens_of(text: str, blanks: str) -> list[Token]:
    """The pieces of a settings string, as PyTorch cuts it.

    Args:
        text: The settings string.
        blanks: The characters that this release ignores wherever they stand.
    """
    dropped = str.maketrans("", "", blanks)
    tokens = []
    for match in _PIECE.finditer(text):
        word = match[0].translate(dropped)
        if word:
            start = match.start() + len(match[0]) - len(match[0].lstrip(blanks))
            tokens.append(Token(word, start, match.start() + len(match[0].rstrip(blanks))))
    return tokens


@dataclass(frozen=True)
class Item:
    """One "key:value" of a settings string as a person reads it: items end at commas outside brackets."""

    key: str
    value: str | None
    """None when there is no colon."""
    start: int
    end: int
    """Characters [start, end) of the settings string, blanks around it excluded."""
    value_start: int
    """First character of the value; `end` when there is none."""


_BLANKS = " \t\n\v\f\r"


def items_of(text: str) -> list[Item]:
    """The items of a settings string, whatever its state; never fails, and joins nothing that PyTorch keeps apart.

    >>> [(item.key, item.value) for item in items_of("a:1, b:[2:3,>:4],c")]
    [('a', '1'), ('b', '[2:3,>:4]'), ('c', None)]
    """
    items, start, inside = [], 0, False
    for match in re.finditer(r"[,\[\]]", text):
        if match[0] == ",":
            if not inside:
                items.append((start, match.start()))
                start = match.end()
        else:
            inside = match[0] == "["
    items.append((start, len(text)))
    return [_item(text, *span) for span in items if text[slice(*span)].strip(_BLANKS)]


def _item(text: str, begin: int, limit: int) -> Item:
    raw = text[begin:limit]
    start = begin + len(raw) - len(raw.lstrip(_BLANKS))
    end = begin + len(raw.rstrip(_BLANKS))
    key, colon, value = text[start:end].partition(":")
    if not colon:
        return Item(_squeezed(key), None, start, end, end)
    value_start = start + len(key) + 1
    value_start += len(value) - len(value.lstrip(_BLANKS))
    return Item(_squeezed(key), _squeezed(value), start, end, value_start)


def _squeezed(text: str) -> str:
    return text.translate(str.maketrans("", "", _BLANKS))
