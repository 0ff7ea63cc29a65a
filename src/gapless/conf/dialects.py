"""How each release of PyTorch reads a settings string, as data.

The options themselves are in `options`; here is what differs in the reading around them. Every row was compared with
the real libraries of 2.1 to 2.14.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gapless.conf.cxx_numbers import stoi, stoul, stoull
from gapless.conf.options import Half
from gapless.conf.releases import Release

_ALL_BLANKS = " \t\n\v\f\r"


@dataclass(frozen=True)
class Dialect:
    """The reading of one range of releases."""

    since: Release
    halves: tuple[Half, ...] | None = None
    """The readers that go over the string, in their order when settings change at run time; None: one for all."""
    signs_are_checked: bool = True
    """A wrong separator is an error; else it is swallowed unseen, whatever it is."""
    blanks: str = " "
    """Characters that are ignored everywhere."""
    whole_number: Callable[[str], int] = stoi
    boundary: Callable[[str], int] = stoul
    """Reads the sizes before the colons of a round-up list."""
    rest_overwrites_last: bool = True
    """">:N" in a round-up list replaces the last boundary's own value too."""
    zero_in_lists: bool = True
    divisions_word: str = "divisons"
    """As PyTorch spells it in its errors."""
    unclosed_list_crashes: bool = False
    """A list cut after a value is read past its end: the process dies (seen: segmentation fault)."""
    text_ends_at_nul: bool = True
    large_segment_is_read_first: bool = False
    backend_needs_no_blanks: bool = True
    """The first look at the string, when torch is loaded, does not ignore blanks inside "backend:..."."""
    gaps_are_assertions: bool = False
    """A missing value or bracket is an internal assertion of PyTorch instead of an error of its own."""


_OLDEST = Dialect(Release(2, 0), zero_in_lists=False, unclosed_list_crashes=True)
_FROM_2_4 = replace(_OLDEST, since=Release(2, 4), zero_in_lists=True)
_FROM_2_7 = replace(_FROM_2_4, since=Release(2, 7), unclosed_list_crashes=False)
_FROM_2_8 = replace(_FROM_2_7, since=Release(2, 8), divisions_word="divisions")
_FROM_2_10 = replace(
    _FROM_2_8,
    since=Release(2, 10),
    halves=(Half.ACCELERATOR, Half.CUDA),
    signs_are_checked=False,
    blanks=_ALL_BLANKS,
    whole_number=stoull,
    boundary=stoull,
    rest_overwrites_last=False,
    text_ends_at_nul=False,
    backend_needs_no_blanks=False,
    gaps_are_assertions=True,
)
_FROM_2_11 = replace(_FROM_2_10, since=Release(2, 11), large_segment_is_read_first=True)
DIALECTS = (_OLDEST, _FROM_2_4, _FROM_2_7, _FROM_2_8, _FROM_2_10, _FROM_2_11)


def dialect_of(release: Release) -> Dialect:
    """The reading of a release."""
    return next(dialect for dialect in reversed(DIALECTS) if dialect.since <= release)
