"""Why memory ran out: findings by measurement, and a verdict in three lines.

`explain` is the way in; rules are the files of `rules/`.
"""

from __future__ import annotations

from gapless.explain.engine import Explanation, explain, explain_all
from gapless.explain.finding import Finding, Growth, Holder, Pin, Verdict
from gapless.explain.options import ExplainOptions
from gapless.explain.rule import Rule

__all__ = [
    "ExplainOptions",
    "Explanation",
    "Finding",
    "Growth",
    "Holder",
    "Pin",
    "Rule",
    "Verdict",
    "explain",
    "explain_all",
]
