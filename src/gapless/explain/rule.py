"""A rule: one kind of finding, with the text of its page. A rule is a file of `rules/`; adding one adds the file.

Such a file has `RULE`, a `Rule`, and `find(case)`, which yields findings of it. Codes never change their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gapless.explain.finding import Finding, Number, Severity, Stack

if TYPE_CHECKING:
    from gapless.explain.case import Case

Find = Callable[["Case"], Iterable[Finding]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a page about a code says."""

    code: str
    name: str
    severity: Severity
    """What it usually is; a finding may be worse or milder where more is known."""
    finds: str
    """What it finds, one or two sentences."""
    why: str
    """Why it matters."""
    measured: str
    """How it is measured."""
    do: str
    """What to do."""
    links: tuple[str, ...] = ()
    """Sources, for the page."""

    def finding(
        self, message: str, *, measurements: Mapping[str, Number], places: tuple[Stack, ...] = (), **more: Any
    ) -> Finding:
        """A finding of this rule; `more` are other fields of `Finding`."""
        fields: dict[str, Any] = {"severity": self.severity, **more}
        return Finding(
            code=self.code, name=self.name, message=message, measurements=measurements, places=places, **fields
        )


@dataclass(frozen=True)
class RuleFile:
    """What a file of `rules/` gives."""

    rules: tuple[Rule, ...]
    find: Find
