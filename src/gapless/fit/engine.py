"""`fit`: the largest value of what is varied on each card, for each choice of the rest."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from gapless.cards import Card
from gapless.fit.search import Found, Search
from gapless.fit.trial import ENDLESS_BYTES, Ran, Runner
from gapless.fit.varied import Choices, Span, Varied, check_used, filled
from gapless.units import MIB

MARGIN_SHARE, MARGIN_BYTES_LEAST = 0.02, 256 * MIB
ENDLESS = Card("an endless card", ENDLESS_BYTES, ENDLESS_BYTES)


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How the search is done."""

    gpus: int = 1
    steps: int | None = None
    """Stop each run after so many steps of an optimizer."""
    margin_bytes: int | None = None
    """Left free on each card; None: 2 % of it, and 256 MiB at least."""
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    on_run: Callable[[str], None] | None = None
    """Told what is run, before each run."""

    def margin_on(self, card: Card) -> int:
        """Bytes that stay free on a card."""
        return (
            max(int(card.capacity_bytes * MARGIN_SHARE), MARGIN_BYTES_LEAST)
            if self.margin_bytes is None
            else (self.margin_bytes)
        )


@dataclass(frozen=True)
class FitRow:
    """One card with one choice of the options that are not searched."""

    card_number: int
    """In the order in which cards were named."""
    choices: Mapping[str, str]
    margin_bytes: int
    """What was left free of the card; `found.card` is less by it."""
    found: Found


@dataclass(frozen=True)
class FitResult:
    """All rows, by card in the order in which they were named."""

    words: Sequence[str]
    span: Span | None
    rows: tuple[FitRow, ...]
    runs: int
    """How many runs it took."""


def fit(
    words: Sequence[str], cards: Sequence[Card], varied: Sequence[Varied] = (), options: FitOptions | None = None
) -> FitResult:
    """Find the largest value of the span in `varied` on each card, for each combination of the other options.

    Args:
        words: The command, with `{name}` where values go.
        cards: Which cards.
        varied: At most one span, and options with a few values. Without a span the command fits on a card or not.
        options: See `FitOptions`.

    Raises:
        InputError: The script fails for other reasons than memory, or what is varied is not in the command.
    """
    check_used(words, varied)
    job = _Job(words, options or FitOptions())
    span = next((one for one in varied if isinstance(one, Span)), None)
    others = [one for one in varied if isinstance(one, Choices)]
    rows: list[FitRow] = []
    for values in itertools.product(*(one.values for one in others)):
        choices = {one.name: value for one, value in zip(others, values, strict=True)}
        rows += _rows(job, cards, span, choices)
    rows.sort(key=lambda row: row.card_number)
    return FitResult(words, span, tuple(rows), job.runs)


def _rows(job: _Job, cards: Sequence[Card], span: Span | None, choices: Mapping[str, str]) -> Iterator[FitRow]:
    """One choice of the options that are not searched, on each card."""
    known = [job.run(choices, span, value, ENDLESS) for value in _first_values(span)] if span else []
    for number, card in enumerate(cards):
        margin = job.options.margin_on(card)
        smaller = replace(card, capacity_bytes=max(card.capacity_bytes - margin, 1))
        search = Search(smaller, span or _ONCE, partial(job.run, choices, span, card=smaller), known)
        yield FitRow(number, choices, margin, search.largest())


_ONCE = Span("", 1, 1)
"""Nothing is searched: the command is run as it is."""


def _first_values(span: Span) -> list[int]:
    """Where growth is learnt: the two smallest, for they run fast, but never 1."""
    return [value for value in map(span.value, range(min(span.count, 3))) if value != 1][:2]


class _Job:
    """Runs the command and counts."""

    def __init__(self, words: Sequence[str], options: FitOptions) -> None:
        self.options = options
        self.runs = 0
        self._words = words
        self._runner = Runner(words=words, gpus=options.gpus, env=options.env, steps=options.steps)

    def run(self, choices: Mapping[str, str], span: Span | None, value: int, card: Card) -> Ran:
        """One run on a card."""
        values = {**choices, **({span.name: str(value)} if span else {})}
        if self.options.on_run:
            said = "".join(f"{name} {one}, " for name, one in values.items())
            self.options.on_run(f"{said}{card.name}")
        self.runs += 1
        return self._runner.run(filled(self._words, values), value, card)
