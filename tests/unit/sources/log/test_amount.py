"""Printed sizes and what their rounding leaves open."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapless.sources.log.amount import Amount, total
from tests.unit.sources.log.messages import printed


@pytest.mark.parametrize(
    ("number", "unit", "value", "low", "high"),
    [
        ("23.65", "GiB", 25393994138, 25388625429, 25399362846),
        ("22.00", "MiB", 23068672, 23063430, 23073914),
        ("448.00", "KiB", 458752, 458747, 458757),
        ("0", "bytes", 0, 0, 0),
        ("1024", "bytes", 1024, 1024, 1024),
        ("7", "B", 7, 7, 7),
        ("12", "GiB", 12884901888, 12348030976, 13421772800),
    ],
)
def test_a_printed_size_keeps_its_bounds(number: str, unit: str, value: int, low: int, high: int) -> None:
    assert Amount.printed(number, unit) == Amount(value, low, high)


@given(st.integers(0, 1 << 45))
def test_the_truth_lies_within_the_bounds(size: int) -> None:
    amount = Amount.printed(*printed(size).split())

    assert amount.low <= size <= amount.high
    assert amount.low <= amount.value <= amount.high


@given(st.integers(0, 99999), st.sampled_from(["KiB", "MiB", "GiB"]))
def test_bounds_are_as_tight_as_whole_bytes_allow(hundredths: int, unit: str) -> None:
    factor = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]
    amount = Amount.printed(f"{hundredths // 100}.{hundredths % 100:02d}", unit)
    half = Fraction(factor, 200)
    exact = Fraction(hundredths * factor, 100)

    assert exact - half <= amount.low < exact - half + 1
    assert exact + half - 1 < amount.high <= exact + half
    assert abs(amount.value - exact) <= Fraction(1, 2)


def test_sums_and_differences_carry_the_doubt() -> None:
    gib, mib = Amount(1000, 995, 1005), Amount(10, 9, 11)

    assert gib + mib == Amount(1010, 1004, 1016)
    assert gib - mib == Amount(990, 984, 996)
    assert (mib - gib).at_least_zero() == Amount(0, 0, 0)
    assert gib.min_with(Amount(1002, 990, 1010)) == Amount(1000, 990, 1005)
    assert total([mib, mib]) == Amount(20, 18, 22)
    assert total([]) == Amount.exact(0)


def test_comparisons_hold_only_when_sure() -> None:
    low, high = Amount(10, 9, 11), Amount(12, 11, 13)

    assert not low.surely_below(high)
    assert low.surely_below(Amount.exact(12))
    assert high.surely_at_least(low)
    assert not low.surely_at_least(Amount.exact(10))
