"""The largest job that fits: a script is run on the pretend card with other values until the largest one is known.

varied    what changes: `batch=1:512`, `checkpointing=off,on`
trial     one run on one card: what it took, or where it failed
growth    how each request grows with the value, from two runs; a replay then predicts any other
search    the largest value on one card: predicted, then confirmed by runs of it and of the next
engine    all cards, all values of the other options
"""

from __future__ import annotations

from gapless.fit.engine import FitOptions, FitResult, fit
from gapless.fit.search import Found
from gapless.fit.trial import Outcome, Ran
from gapless.fit.varied import Choices, Span, Varied, parse_varied

__all__ = [
    "Choices",
    "FitOptions",
    "FitResult",
    "Found",
    "Outcome",
    "Ran",
    "Span",
    "Varied",
    "fit",
    "parse_varied",
]
