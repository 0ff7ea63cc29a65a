"""The search ends at a value that fits and the next that does not, and takes few runs where growth is even."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapless.cards import Card
from gapless.fit.search import Search
from gapless.fit.trial import Outcome, Ran
from gapless.fit.varied import Span
from gapless.units import MIB

CAPACITY = 1000


class Runs:
    """A program whose peak is known, on a card of so many bytes; counts how often it is run."""

    def __init__(self, peak: Callable[[int], int], capacity: int = CAPACITY) -> None:
        self.card = Card("a card", capacity, capacity)
        self.values: list[int] = []
        self._peak = peak

    def __call__(self, value: int) -> Ran:
        self.values.append(value)
        return self.ran(value, self._peak(value) <= self.card.capacity_bytes)

    def ran(self, value: int, fits: bool) -> Ran:
        outcome = Outcome.FITS if fits else Outcome.OUT_OF_MEMORY
        peak = min(self._peak(value), self.card.capacity_bytes) if not fits else self._peak(value)
        return Ran(value, self.card, outcome, peak, peak, {}, None)

    def search(self, span: Span) -> tuple[int | None, int | None]:
        known = [self.ran(value, fits=True) for value in (2, 3)]
        found = Search(self.card, span, self, known).largest()
        fitting, failing = found.fitting, found.failing
        return fitting.value if fitting else None, failing.value if failing else None


def test_even_growth_takes_two_runs() -> None:
    runs = Runs(lambda value: 100 + 7 * value)

    assert runs.search(Span("batch", 1, 512)) == (128, 129)
    assert runs.values == [128, 129]


@pytest.mark.parametrize(
    ("peak", "found", "values"),
    [
        (lambda value: 1001, (None, 1), [1]),
        (lambda value: 10, (512, None), [512]),
        (lambda value: 999 if value == 1 else 2000, (1, 2), [1, 2]),
    ],
)
def test_the_ends_of_the_span(
    peak: Callable[[int], int], found: tuple[int | None, int | None], values: list[int]
) -> None:
    runs = Runs(peak)

    assert runs.search(Span("batch", 1, 512)) == found
    assert set(values) <= set(runs.values)


def test_steps_are_kept() -> None:
    runs = Runs(lambda value: value)

    assert runs.search(Span("length", 64, 4096, 64)) == (960, 1024)
    assert all(value % 64 == 0 for value in runs.values)


@given(
    st.lists(st.integers(min_value=0, max_value=40), min_size=64, max_size=64),
    st.integers(min_value=1, max_value=64),
)
def test_any_growth_ends_at_the_pair(steps: list[int], most: int) -> None:
    """However uneven: the largest that fits of values that never need less than smaller ones."""
    peaks = [100 + sum(steps[:value]) for value in range(65)]
    runs = Runs(lambda value: peaks[value])
    fitting = [value for value in range(1, most + 1) if peaks[value] <= CAPACITY]

    found = runs.search(Span("batch", 1, most))

    assert found == (max(fitting, default=None), len(fitting) + 1 if len(fitting) < most else None)
    assert len(runs.values) == len(set(runs.values)) <= 6 + 7


def test_a_small_margin_is_a_share_of_the_card() -> None:
    from gapless.fit import FitOptions  # noqa: PLC0415

    assert FitOptions().margin_on(Card("t", 4096 * MIB, 4096 * MIB)) == 256 * MIB
    assert FitOptions().margin_on(Card("t", 100 << 30, 100 << 30)) == 2 << 30
    assert FitOptions(margin_bytes=5).margin_on(Card("t", 100 << 30, 100 << 30)) == 5
