"""Numbers as the C++ library reads them; every value here was seen in a real library."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from gapless.conf.cxx_numbers import NumberError, stod, stoi, stoull


@pytest.mark.parametrize(
    ("text", "number"),
    [("100", 100), ("100garbage", 100), ("+7", 7), ("-5", 2**64 - 5), ("0x20", 0), ("1e3", 1), ("\t64", 64)],
)
@pytest.mark.parametrize("read", [stoi, stoull])
def test_whole_numbers_stop_at_the_first_other_character(read: Callable[[str], int], text: str, number: int) -> None:
    assert read(text) == number


def test_ranges_of_whole_numbers() -> None:
    assert stoi("2147483647") == 2**31 - 1
    assert stoi("-2147483648") == 2**64 - 2**31
    assert stoull("18446744073709551615") == 2**64 - 1
    assert stoull("-18446744073709551615") == 1
    assert stoull("0" * 5000 + "8") == 8


@pytest.mark.parametrize(
    ("read", "text", "name"),
    [
        (stoi, "2147483648", "stoi"),
        (stoi, "-2147483649", "stoi"),
        (stoi, "", "stoi"),
        (stoull, "18446744073709551616", "stoull"),
        (stoull, "9" * 100_000, "stoull"),
        (stoull, "garbage", "stoull"),
        (stoull, "\uff11\uff10\uff10", "stoull"),
        (stod, "x", "stod"),
        (stod, ".", "stod"),
        (stod, "1e400", "stod"),
        (stod, "1e-310", "stod"),
        (stod, "0x1p99999", "stod"),
    ],
)
def test_refusals_carry_the_functions_name(read: Callable[[str], float], text: str, name: str) -> None:
    with pytest.raises(NumberError) as caught:
        read(text)
    assert str(caught.value) == name


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5),
        ("0.5x", 0.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-0.1", -0.1),
        ("0x1p-3", 0.125),
        ("0x", 0.0),
        ("1e", 1.0),
    ],
)
def test_real_numbers(text: str, number: float) -> None:
    assert stod(text) == number


def test_words_for_real_numbers() -> None:
    assert stod("infx") == math.inf
    assert math.isnan(stod("-nan"))
    assert stod("0.000") == 0
