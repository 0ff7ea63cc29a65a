"""The largest value that fits on one card: predicted, then confirmed by runs of it and of the next larger one.

A value that fits and the next one that does not are the whole proof, so the search is for that pair. It begins where
two small runs say; where a run contradicts them, it goes on from the runs nearest to the limit, and by halves at last.
Never is the value 1 used to predict: a batch of one takes other ways through PyTorch than any larger one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gapless.fit.growth import Growth

if TYPE_CHECKING:
    from gapless.cards import Card
    from gapless.fit.trial import Ran
    from gapless.fit.varied import Span

Run = Callable[[int], "Ran"]
"""Runs a value on the card that is searched."""
_PREDICTED_RUNS = 6
"""Two are needed where all is as predicted; after so many the rest is searched by halves."""


@dataclass(frozen=True)
class Found:
    """What is known of one card."""

    card: Card
    fitting: Ran | None
    """The run with the largest value that fits; None where none does."""
    failing: Ran | None
    """The run with the next larger value; None where the largest that was asked for fits."""


@dataclass
class Search:
    """One card, and the values that are open."""

    card: Card
    span: Span
    run: Run
    known: Sequence[Ran] = ()
    """Runs on an endless card, from which the first prediction is made."""
    _runs: dict[int, Ran] = field(default_factory=dict)
    """On this card, by index in the span."""

    def largest(self) -> Found:
        """Run values until one fits and the next does not."""
        low, high = -1, self.span.count
        while high - low > 1:
            predicted = self._predicted(low, high) if len(self._runs) < _PREDICTED_RUNS else (low + high) // 2
            # Where the largest that fits is known already, the next is to be seen failing.
            guess = min(max(predicted, low + 1), high - 1)
            ran = self._runs[guess] = self.run(self.span.value(guess))
            low, high = (guess, high) if ran.fits else (low, guess)
        return Found(self.card, self._runs.get(low), self._runs.get(high))

    def _predicted(self, low: int, high: int) -> int:
        """The largest index from `low`, which fits, to under `high`, which does not, that is predicted to fit."""
        runs = self._to_learn_from()
        growths = (Growth.between(one, other) for other, one in itertools.pairwise(runs))
        growth = next((growth for growth in growths if growth is not None), None)
        if growth is None:
            return self._by_peaks(runs, (low + high) // 2)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if growth.fits(self.span.value(middle), self.card) else (low, middle)
        return low

    def _by_peaks(self, runs: Sequence[Ran], otherwise: int) -> int:
        """The same where no two runs ask alike: from how the peak of reserved memory grows."""
        if len(runs) < 2:
            return otherwise
        high, low = runs[0], runs[1]
        for_each = (high.reserved_bytes_peak - low.reserved_bytes_peak) / (high.value - low.value)
        if for_each <= 0:
            return otherwise
        value = high.value + (self.card.capacity_bytes - high.reserved_bytes_peak) / for_each
        return int(value - self.span.least) // self.span.step

    def _to_learn_from(self) -> list[Ran]:
        """Runs that ended well, largest value first."""
        whole = {ran.value: ran for ran in [*self.known, *self._runs.values()] if ran.fits and ran.value != 1}
        return sorted(whole.values(), key=lambda ran: ran.value, reverse=True)
