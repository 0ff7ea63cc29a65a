"""The walk of PyTorch over a settings string: token by token, as the release does it, stopping where it stops.

The walk changes a dictionary of settings as it goes, because PyTorch does: what was read before an error stays in
force. Which options and bounds exist is data in `options`; how releases differ in the walk is data in `dialects`.
"""

from __future__ import annotations

from typing import Any

from gapless.conf import problems
from gapless.conf.cursor import Cursor, is_power_of_two
from gapless.conf.cxx_numbers import NumberError, stod
from gapless.conf.dialects import dialect_of
from gapless.conf.division_list import DivisionReader
from gapless.conf.options import Bounds, Half, Kind, Option, find
from gapless.conf.problems import StopError
from gapless.conf.releases import Release
from gapless.conf.tokens import Token, Tokens
from gapless.units import MIB

BACKENDS = ("native", "cudaMallocAsync")
_MOST_MIB = ((1 << 64) - 1) // MIB


class Reading:
    """One settings string on its way into a dictionary of settings.

    Args:
        tokens: The string, cut up.
        release: Whose reading.
        values: Fields of `Settings` by name; changed in place.
    """

    def __init__(self, tokens: Tokens, release: Release, values: dict[str, Any]) -> None:
        self._tokens = tokens
        self._release = release
        self._cursor = Cursor(tokens, dialect_of(release))
        self._values = values
        self._backend: str = values["backend"]
        self.applied: set[int] = set()
        """Characters at which the keys of the options stand that were read whole."""

    def read_large_segment_size(self) -> None:
        """The pass of 2.11 and later that goes ahead of the others: other bounds depend on this option."""
        if not self._tokens.may_hold("large_segment_size_mb"):
            return
        at = 0
        while self._cursor.has(at):
            option = find(self._tokens[at].text)
            if option is not None and option.field == "large_segment_size":
                at = self._read(option, at)
            at += 1

    def read_half(self, half: Half | None) -> None:
        """One pass over the string, applying the options of one half and skipping the rest; None: all options."""
        ahead = self._cursor.dialect.large_segment_is_read_first
        at = 0
        while self._cursor.has(at):
            option = self._option_at(at, half)
            if half in (None, option.half) and not (ahead and option.field == "large_segment_size"):
                at = self._read(option, at)
            else:
                at = self._skip(option, at)
            if self._cursor.has(at + 1):
                at = self._cursor.sign(at + 1, ",")
            at += 1

    def _option_at(self, at: int, half: Half | None) -> Option:
        token = self._tokens[at]
        option = find(token.text)
        if option is not None and option.since <= self._release:
            return option
        if half is None:
            words = f"Unrecognized CachingAllocator option: {token.text}"
        else:
            words = f"Unrecognized key '{token.text}' in {half.value} allocator config."
        raise StopError(problems.unknown_key(token.text, token.start, self._release, words))

    def _skip(self, option: Option, at: int) -> int:
        """Passes over an option of the other half; returns the last token of its value."""
        key = self._tokens[at].text
        at = self._cursor.colon(option, key, at + 1) + 1
        if self._cursor.value(option, key, at).text != "[":
            return at
        while self._cursor.has(at) and self._tokens[at].text != "]":
            at += 1
        if not self._cursor.has(at):
            raise StopError(problems.unclosed_list(key, self._cursor.end, problems.UNCLOSED))
        return at

    def _read(self, option: Option, at: int) -> int:
        """Applies the option whose key stands at a token; returns the last token of its value."""
        key = self._tokens[at]
        value_at = self._cursor.colon(option, key.text, at + 1) + 1
        token = self._cursor.value(option, key.text, value_at)
        if option.kind is Kind.DIVISIONS:
            reader = DivisionReader(self._cursor, option, key.text, self._values[option.field])
            try:
                value_at = reader.read(value_at)
            finally:
                self._values[option.field] = tuple(reader.entries)
        else:
            self._values[option.field] = self._single(option, key.text, token, value_at)
        self.applied.add(key.start)
        return value_at

    def _single(self, option: Option, key: str, token: Token, index: int) -> Any:
        if option.kind is Kind.BOOL:
            if token.text not in ("True", "False"):
                asserts = self._cursor.dialect.gaps_are_assertions
                raise StopError(problems.not_a_bool(option, key, token.text, (token.start, index), asserts))
            return token.text == "True"
        if option.kind is Kind.BACKEND:
            return self._read_backend(key, token)
        number = self._number(option, key, token)
        bounds = option.bounds_in(self._release)
        if bounds is not None:
            self._check(option, key, token, number, bounds)
        if option.kind is not Kind.MIB:
            return number
        return (min(int(number), _MOST_MIB) if option.clamped else int(number)) * MIB

    def _number(self, option: Option, key: str, token: Token) -> float:
        if option.kind is not Kind.FRACTION:
            return self._cursor.whole_number(option, key, token)
        try:
            return stod(token.text)
        except NumberError as function:
            raise StopError(problems.not_a_number(option, key, token.text, token.start, str(function))) from None

    def _read_backend(self, key: str, token: Token) -> str:
        if token.text not in BACKENDS:
            raise StopError(problems.unknown_backend(token.text, token.start))
        if token.text != self._backend:
            raise StopError(problems.backend_changed(key, token.text, token.start, self._backend))
        return token.text

    def _check(self, option: Option, key: str, token: Token, number: float, bounds: Bounds) -> None:
        if bounds.power_of_two and not is_power_of_two(int(number)):
            words = bounds.error_power.format(got=number)
            raise StopError(problems.not_a_power(key, token.text, token.start, bounds.accepts, words))
        least = self._values["large_segment_size"] // MIB if bounds.least_is_large_segment else bounds.least
        # Written so that nan is too small, as it is for PyTorch.
        if not (number > least if bounds.above_least else number >= least):
            words = bounds.error.format(least=least, got=number)
        elif bounds.most is not None and not (number < bounds.most if bounds.below_most else number <= bounds.most):
            words = (bounds.error_most or bounds.error).format(got=number)
        else:
            return
        accepts = f"{least} or more, in MiB" if bounds.least_is_large_segment else bounds.accepts
        raise StopError(problems.out_of_range(key, token.text, token.start, (accepts, self._release, words)))
