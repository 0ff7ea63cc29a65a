"""The value of roundup_power2_divisions: one number, or a list of sizes and divisions.

    [256:1,512:2,1024:4,>:8]     sizes in MiB; entry k of the result serves requests from 2**k to 2**(k+1) MiB

    entry      0 .. 7   8   9   10   11 .. 15
    2.10 on    1 .. 1   1   2   4    8  .. 8       ">" fills what lies above the last size
    to 2.9     1 .. 1   1   2   8    8  .. 8       ">" replaces the last size's own entry as well

The first size also fills everything below it; every later one sets its own entry only, so gaps stay as they were.
"""

from __future__ import annotations

from gapless.conf import problems
from gapless.conf.cursor import Cursor, is_power_of_two
from gapless.conf.cxx_numbers import NumberError
from gapless.conf.options import Option
from gapless.conf.problems import StopError
from gapless.conf.settings import INTERVALS
from gapless.conf.tokens import Token


class DivisionReader:
    """Reads one value; `entries` hold what was read so far, also when reading stops."""

    def __init__(self, cursor: Cursor, option: Option, key: str, entries: tuple[int, ...]) -> None:
        self._cursor = cursor
        self._option = option
        self._key = key
        self.entries = list(entries)

    def read(self, at: int) -> int:
        """Reads the value that begins at a token; returns its last token."""
        token = self._cursor.tokens[at]
        if token.text == "[":
            return self._list(at + 1)
        number = self._cursor.whole_number(self._option, self._key, token)
        self._check_division(token, number, zero_is_good=False)
        self.entries = [number] * INTERVALS
        return at

    def _list(self, at: int) -> int:
        cursor, last, first = self._cursor, 0, True
        while cursor.has(at) and cursor.tokens[at].text != "]":
            size = cursor.tokens[at]
            value_at = cursor.colon(self._option, self._key, at + 1) + 1
            number = self._division(value_at)
            if size.text == ">":
                start = last if cursor.dialect.rest_overwrites_last else last + 1
                self.entries[start:] = [number] * (INTERVALS - start)
            else:
                last = self._entry(size)
                if first:
                    self.entries[:last] = [number] * last
                    first = False
                self.entries[last] = number
            at = self._after_pair(value_at + 1)
        if not cursor.has(at) and cursor.dialect.gaps_are_assertions:
            raise StopError(problems.unclosed_list(self._key, cursor.end, problems.UNCLOSED))
        return at

    def _division(self, at: int) -> int:
        cursor = self._cursor
        if not cursor.has(at) and not cursor.dialect.gaps_are_assertions:
            words = f"Error parsing {self._option.name} value"
            raise StopError(problems.unclosed_list(self._key, cursor.end, words))
        token = cursor.value(self._option, self._key, at)
        number = cursor.whole_number(self._option, self._key, token)
        self._check_division(token, number, zero_is_good=cursor.dialect.zero_in_lists)
        return number

    def _check_division(self, token: Token, number: int, *, zero_is_good: bool) -> None:
        if is_power_of_two(number) or (zero_is_good and number == 0):
            return
        zero = "or 0 to disable roundup " if zero_is_good else ""
        words = f"For roundups, the {self._cursor.dialect.divisions_word} has to be power of 2 {zero}"
        accepts = "a power of two or 0" if zero_is_good else "a power of two"
        raise StopError(problems.not_a_power(self._key, token.text, token.start, accepts, words))

    def _entry(self, token: Token) -> int:
        try:
            size = self._cursor.dialect.boundary(token.text)
        except NumberError as function:
            problem = problems.not_a_number(self._option, self._key, token.text, token.start, str(function))
            raise StopError(problem) from None
        if not is_power_of_two(size):
            words = "For roundups, the intervals have to be power of 2 "
            raise StopError(problems.not_a_power(self._key, token.text, token.start, "a power of two, in MiB", words))
        return min(size.bit_length() - 1, INTERVALS - 1)

    def _after_pair(self, at: int) -> int:
        """Steps over the comma after a pair; returns the place of the next pair or of the closing bracket."""
        cursor = self._cursor
        if not cursor.has(at):
            words = problems.GAP
            if not cursor.dialect.gaps_are_assertions:
                crashes = cursor.dialect.unclosed_list_crashes
                words = "" if crashes else "Error parsing CachingAllocator settings, expected ,"
            raise StopError(problems.unclosed_list(self._key, cursor.end, words))
        return at if cursor.tokens[at].text == "]" else cursor.sign(at, ",") + 1
