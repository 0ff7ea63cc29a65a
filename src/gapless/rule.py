"""A rule: one kind of finding, with the text of its page. What finds it, and in what, is said where rules are used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]
"""error: this is why it failed, or will; warning: it costs memory or trust; info: worth knowing."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""Worst first."""


@dataclass(frozen=True)
class Rule:
    """What a page about a code says. Codes never change their meaning."""

    code: str
    name: str
    severity: Severity
    """What it usually is; a finding may be worse or milder where more is known."""
    finds: str
    """What it finds, one or two sentences."""
    why: str
    """Why it matters."""
    measured: str
    """How it is measured, and of what."""
    do: str
    """What to do."""
    links: tuple[str, ...] = ()
    """Sources, for the page."""
