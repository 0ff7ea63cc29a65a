"""Bytes that a text printed rounded: what it said, and between which bounds the truth must lie.

PyTorch prints sizes with two decimals, so "23.65 GiB" is known to about 5 MiB. A conclusion from a log holds only if
it holds at the unfavourable end, so amounts add and subtract as intervals and compare as `surely` or `possibly`.
"""

from __future__ import annotations

from dataclasses import dataclass

from gapless.units import GIB, KIB, MIB

UNITS = {"bytes": 1, "B": 1, "KiB": KIB, "MiB": MIB, "GiB": GIB}
AMOUNT_PATTERN = r"(\d{1,20})(?:\.(\d{1,2}))?(bytes|KiB|MiB|GiB|B)"


@dataclass(frozen=True)
class Amount:
    """A number of bytes known to lie in [low, high]; low <= value <= high.

    >>> Amount.printed("23.65", "GiB")
    Amount(value=25393994138, low=25388625429, high=25399362846)
    """

    value: int
    low: int
    high: int

    @staticmethod
    def exact(count: int) -> Amount:
        """An amount without any doubt, in bytes."""
        return Amount(count, count, count)

    @staticmethod
    def printed(number: str, unit: str) -> Amount:
        """The amount that PyTorch printed as `number` and `unit`, like ``"23.65"`` and ``"GiB"``."""
        whole, _, decimals = number.partition(".")
        factor = UNITS[unit]
        if factor == 1:
            return Amount.exact(int(whole))
        scale = 10 ** len(decimals)
        scaled = int(whole + decimals)
        low = -(-(2 * scaled - 1) * factor // (2 * scale))
        high = (2 * scaled + 1) * factor // (2 * scale)
        value = (2 * scaled * factor + scale) // (2 * scale)
        return Amount(value, low, high)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.value + other.value, self.low + other.low, self.high + other.high)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.value - other.value, self.low - other.high, self.high - other.low)

    def at_least_zero(self) -> Amount:
        """The same amount where rounding alone made it negative."""
        return Amount(max(self.value, 0), max(self.low, 0), max(self.high, 0))

    def min_with(self, other: Amount) -> Amount:
        """The smaller of two amounts."""
        return Amount(min(self.value, other.value), min(self.low, other.low), min(self.high, other.high))

    def surely_below(self, other: Amount) -> bool:
        """Whether this is smaller whatever the rounding was."""
        return self.high < other.low

    def surely_at_least(self, other: Amount) -> bool:
        """Whether this is as large or larger whatever the rounding was."""
        return self.low >= other.high


def total(amounts: list[Amount] | tuple[Amount, ...]) -> Amount:
    """The sum of amounts; zero for none."""
    return sum(amounts, start=Amount.exact(0))
