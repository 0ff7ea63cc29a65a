"""What PyTorch makes of a settings string: the settings, and the problem at which it stops.

`parse` behaves as the release does, its oddities included: numbers with trailing junk count, the last duplicate wins,
some options go back to their defaults first and others do not, and what stands before an error stays in force.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from gapless.conf.dialects import Dialect, dialect_of
from gapless.conf.options import Half, Option, find
from gapless.conf.problems import Problem, StopError
from gapless.conf.reading import BACKENDS, Reading
from gapless.conf.releases import NEWEST, Release
from gapless.conf.settings import Settings
from gapless.conf.tokens import Tokens, items_of

_RESET_FIRST = ("max_split_size", "roundup_power2_divisions", "garbage_collection_threshold")


@dataclass(frozen=True)
class ParsedItem:
    """One "key:value" of the string, and whether PyTorch took it over."""

    key: str
    value: str | None
    option: Option | None
    start: int
    end: int
    applied: bool
    """PyTorch read it before it stopped, if it did. A later duplicate may have replaced its value."""


@dataclass(frozen=True)
class ParsedConf:
    """A settings string as one release reads it."""

    text: str
    release: Release
    settings: Settings
    """In force afterwards; after a problem, with what had been read until then."""
    problems: tuple[Problem, ...]
    """What PyTorch stops at; it never gets to a second one."""
    applied: frozenset[int]
    """Characters at which the keys stand that PyTorch took over."""

    @cached_property
    def items(self) -> tuple[ParsedItem, ...]:
        """The text's "key:value" pairs as a person reads them."""
        return tuple(
            ParsedItem(item.key, item.value, find(item.key), item.start, item.end, item.start in self.applied)
            for item in items_of(self.text)
        )


def parse(
    text: str, release: Release = NEWEST, previous: Settings | None = None, *, at_load: bool = False
) -> ParsedConf:
    """Reads a settings string exactly as a release of PyTorch does. Bad text is a result, not an exception.

    Args:
        text: What PYTORCH_CUDA_ALLOC_CONF holds, or what is given to `_set_allocator_settings`.
        release: Whose reading.
        previous: The settings in force before; options that a string does not mention keep them, where PyTorch does.
        at_load: The string stands in the environment when torch is loaded; else settings change at run time. They
            differ only in which backend may be named and which of several problems is met first.

    >>> parse("expandable_segments:True,max_split_size_mb:100garbage").settings.max_split_size
    104857600
    """
    dialect = dialect_of(release)
    before = previous or Settings()
    values: dict[str, Any] = {field.name: getattr(before, field.name) for field in fields(Settings)}
    seen = text.partition("\0")[0] if dialect.text_ends_at_nul else text
    tokens = Tokens(seen, dialect.blanks)
    if at_load:
        values["backend"] = _backend_at_load(tokens, dialect)
    reading = Reading(tokens, release, values)
    found: tuple[Problem, ...] = ()
    try:
        _read(reading, dialect, values, at_load)
    except StopError as stopped:
        found = (stopped.problem,)
    return ParsedConf(text, release, replace(before, **values), found, frozenset(reading.applied))


def _read(reading: Reading, dialect: Dialect, values: dict[str, Any], at_load: bool) -> None:
    # At run time the accelerator's half goes first; when torch is loaded, CUDA's half meets the string first.
    halves = dialect.halves or (None,)
    for half in reversed(halves) if at_load else halves:
        if half is not Half.CUDA:
            for name in _RESET_FIRST:
                values[name] = getattr(Settings, name)
            if dialect.large_segment_is_read_first:
                reading.read_large_segment_size()
                values["max_non_split_rounding"] = values["large_segment_size"]
        reading.read_half(half)


def _backend_at_load(tokens: Tokens, dialect: Dialect) -> str:
    """The backend that the first look at the string finds, before the allocator exists."""
    named = "native"
    if not tokens.may_hold("backend"):
        return named
    if dialect.backend_needs_no_blanks:
        words = [word.split(":") for word in re.split(r"[\s,]+", tokens.text)]
        named = next((word[1] for word in words if len(word) == 2 and word[0] == "backend"), named)
    else:
        at = 0
        while tokens.has(at) and tokens[at].text != "backend":
            at += 1
        named = tokens[at + 2].text if tokens.has(at + 2) else named
    return named if named in BACKENDS else "native"
