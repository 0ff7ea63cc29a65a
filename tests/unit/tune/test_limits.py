"""Memory fractions, as each release computes them."""

from __future__ import annotations

import pytest

from gapless.cards import Card
from gapless.conf import Release, Settings
from gapless.tune.limits import fraction_for, fraction_leaving, limit_of_fraction
from gapless.units import MIB


@pytest.mark.parametrize(
    ("fraction", "total", "release", "limit"),
    [
        (0.5, 1001, Release(2, 1), 500),
        (0.5, 1001, Release(2, 12), 500),
        (0.5, 1001, Release(2, 13), 501),
        (0.9, 14, Release(2, 14), 13),
        (1.0, 1001, Release(2, 9), 1001),
        (1.0, 1001, Release(2, 10), None),
        (0.0, 1001, Release(2, 14), 0),
    ],
)
def test_a_fraction_becomes_bytes_as_the_release_does_it(
    fraction: float, total: int, release: Release, limit: int | None
) -> None:
    assert limit_of_fraction(fraction, total, release) == limit


def test_a_fraction_never_allows_more_than_was_meant() -> None:
    assert fraction_for(999, 1000) == 0.999
    assert fraction_for(18_999_999, 24_000_000) == 0.791
    assert fraction_leaving(Card("x", 20_000, 24_000), 8_000, Settings()) == 0.5
    assert fraction_leaving(Card("x", 20_000, 24_000), 30_000, Settings()) == 0.0


@pytest.mark.parametrize(
    ("settings", "fraction"),
    [
        (Settings(), 0.75),
        (Settings(expandable_segments=True), 0.745),
        (Settings(expandable_segments=True, large_segment_size=128 * MIB), 0.718),
        (Settings(large_segment_size=128 * MIB), 0.75),
    ],
)
def test_the_last_page_of_expandable_segments_stays_out_of_what_is_free(settings: Settings, fraction: float) -> None:
    assert fraction_leaving(Card("x", 4000 * MIB, 4000 * MIB), 1000 * MIB, settings) == fraction
