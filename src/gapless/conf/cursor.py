"""The pieces of one settings string with the release's rules for stepping over them."""

from __future__ import annotations

from dataclasses import dataclass

from gapless.conf import problems
from gapless.conf.cxx_numbers import NumberError
from gapless.conf.dialects import Dialect
from gapless.conf.options import Option
from gapless.conf.problems import StopError
from gapless.conf.tokens import Token, Tokens


@dataclass(frozen=True)
class Cursor:
    """The tokens, and what happens where one is missing or wrong. Places are indices of tokens."""

    tokens: Tokens
    dialect: Dialect

    @property
    def end(self) -> int:
        """Length of the string in characters: where missing things are missing."""
        return len(self.tokens.text)

    def has(self, at: int) -> bool:
        """Whether there is a token at a place."""
        return self.tokens.has(at)

    def sign(self, at: int, sign: str) -> int:
        """Steps onto a token that should be a sign; newer releases do not look which."""
        token = self.tokens[at]
        if self.dialect.signs_are_checked and token.text != sign:
            raise StopError(problems.wrong_separator(token.text, token.start, sign))
        return at

    def colon(self, option: Option, key: str, at: int) -> int:
        """Steps onto the colon after a key."""
        if not self.has(at):
            raise StopError(problems.missing_colon(option, key, self.end, self.dialect.gaps_are_assertions))
        return self.sign(at, ":")

    def value(self, option: Option, key: str, at: int) -> Token:
        """The token of a value."""
        if not self.has(at):
            raise StopError(problems.missing_value(option, key, self.end, self.dialect.gaps_are_assertions))
        return self.tokens[at]

    def whole_number(self, option: Option, key: str, token: Token) -> int:
        """A whole number, as this release reads it."""
        try:
            return self.dialect.whole_number(token.text)
        except NumberError as function:
            raise StopError(problems.not_a_number(option, key, token.text, token.start, str(function))) from None


def is_power_of_two(number: int) -> bool:
    """Whether a number is 1, 2, 4, ...

    >>> [number for number in range(9) if is_power_of_two(number)]
    [1, 2, 4, 8]
    """
    return number > 0 and number & (number - 1) == 0
