"""Findings of the codes that a log can tell of. Names and meanings are those of the rules for recordings."""

from __future__ import annotations

from typing import Any

from gapless.explain.finding import Finding
from gapless.rule import Severity

NAMES = {
    "OK000": "nothing-wrong",
    "OOM101": "capacity",
    "OOM102": "request-larger-than-card",
    "OOM103": "memory-limit",
    "FRAG201": "pinned-segments",
    "FRAG203": "private-pool",
    "OUT501": "outside-pytorch",
    "OUT502": "cache-starves-card",
    "REC790": "log-alone",
    "REC791": "not-pytorch",
}


def finding(code: str, message: str, *, severity: Severity = "error", **more: Any) -> Finding:
    """A finding of a code; `more` are other fields of `Finding`."""
    return Finding(code=code, name=NAMES[code], severity=severity, message=message, **more)
