"""What changes between runs: options of the script, as `--vary` names them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_SPAN = re.compile(r"(\d{1,12}):(\d{1,12})(?::(\d{1,12}))?")
_MOST_CHOICES = 64


@dataclass(frozen=True)
class Span:
    """Whole numbers of which the largest that fits is sought."""

    name: str
    least: int
    most: int
    step: int = 1
    """Values are `least` and whole steps above it."""

    @property
    def count(self) -> int:
        """How many values there are."""
        return (self.most - self.least) // self.step + 1

    def value(self, index: int) -> int:
        """The value at an index from 0."""
        return self.least + index * self.step


@dataclass(frozen=True)
class Choices:
    """Values that are all tried."""

    name: str
    values: tuple[str, ...]


Varied = Span | Choices


def parse_varied(text: str) -> Varied:
    """What `--vary` says.

    Raises:
        InputError: It is neither NAME=LEAST:MOST, maybe with :STEP, nor NAME=VALUE,VALUE.

    >>> parse_varied("batch=1:512")
    Span(name='batch', least=1, most=512, step=1)
    >>> parse_varied("checkpointing=off,on")
    Choices(name='checkpointing', values=('off', 'on'))
    """
    name, equals, said = text.partition("=")
    if not equals or not _NAME.fullmatch(name) or not said:
        raise _misread(text, "is not NAME=VALUES")
    span = _SPAN.fullmatch(said)
    if span is None:
        values = tuple(dict.fromkeys(said.split(",")))
        if len(values) > _MOST_CHOICES:
            raise _misread(text, f"names {len(values)} values, and {_MOST_CHOICES} are tried at most")
        return Choices(name, values)
    least, most, step = int(span[1]), int(span[2]), int(span[3] or 1)
    if most < least or step < 1:
        raise _misread(text, "has no value from its least to its most")
    return Span(name, least, most, step)


def _misread(text: str, what: str) -> InputError:
    return InputError(f"{text[:80]!r} {what}", hint="write batch=1:512, or checkpointing=off,on", where="--vary")


def filled(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The command's words with each `{name}` replaced by its value; other braces stay as they are.

    >>> filled(["train.py", "--batch", "{batch}", "{other}"], {"batch": "8"})
    ['train.py', '--batch', '8', '{other}']
    """

    def value(match: re.Match[str]) -> str:
        return values.get(match[1], match[0])

    return [re.sub(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}", value, word) for word in words]


def check_used(words: Sequence[str], varied: Sequence[Varied]) -> None:
    """Complains where an option that is varied stands nowhere in the command.

    Raises:
        InputError: So it is, or a name is given twice, or two spans are to be searched.
    """
    names = [one.name for one in varied]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{twice} is varied twice", where="--vary")
    spans = [one.name for one in varied if isinstance(one, Span)]
    if len(spans) > 1:
        hint = f"list the values of one of them, like {spans[1]}=1024,2048,4096"
        raise InputError(
            f"{' and '.join(spans)} are both spans; the largest of one is sought", hint=hint, where="--vary"
        )
    for name in names:
        if not any("{" + name + "}" in word for word in words):
            hint = f"write {{{name}}} where its value stands: train.py --{name} {{{name}}}"
            raise InputError(f"the command does not say where {name} goes", hint=hint, where="--vary")
