"""What a log alone says about a failure: what its numbers prove, what they leave open, and how to record the rest.

scan (sources.log) -> numbers -> causes, in the order of `decide` -> LogExplanation
"""

from __future__ import annotations

from gapless.explain.log.decide import explain_log
from gapless.explain.log.explanation import LogExplanation

__all__ = ["LogExplanation", "explain_log"]
