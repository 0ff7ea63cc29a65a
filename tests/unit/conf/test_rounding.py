"""Rounding by power-of-two division, with sizes measured on the real libraries."""

from __future__ import annotations

import pytest

from gapless.conf import NEWEST, Release, Settings, parse
from gapless.conf.rounding import rounded_bytes

FOUR = Settings(roundup_power2_divisions=(4,) * 16)


@pytest.mark.parametrize(
    ("request_bytes", "size"),
    [
        (1, 512),
        (1200, 1536),
        (2049, 2560),
        (5000, 5120),
        (700_000, 786_432),
        (1_048_577, 1_310_720),
        (100_000_000, 100_663_296),
        (1 << 30, 1 << 30),
    ],
)
def test_four_divisions(request_bytes: int, size: int) -> None:
    assert rounded_bytes(request_bytes, FOUR, NEWEST) == size


@pytest.mark.parametrize(
    ("request_bytes", "to_2_9", "from_2_10"),
    [
        (268_435_457, 268_435_968, 268_435_968),
        (536_870_913, 805_306_368, 805_306_368),
        (1_073_741_825, 1_207_959_552, 1_342_177_280),
        (2_147_483_649, 2_415_919_104, 2_415_919_104),
    ],
)
def test_list_of_the_documentation(request_bytes: int, to_2_9: int, from_2_10: int) -> None:
    text = "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]"

    for release, size in ((Release(2, 9), to_2_9), (Release(2, 10), from_2_10)):
        assert rounded_bytes(request_bytes, parse(text, release).settings, release) == size


def test_off_rounds_to_512() -> None:
    assert [rounded_bytes(size, Settings(), NEWEST) for size in (1, 511, 512, 513, 1500)] == [512, 512, 512, 1024, 1536]


def test_one_division_leaves_sizes_unrounded_up_to_2_3() -> None:
    one = Settings(roundup_power2_divisions=(1,) * 16)

    assert rounded_bytes(1500, one, Release(2, 3)) == 1500
    assert rounded_bytes(1500, one, Release(2, 4)) == 1536
