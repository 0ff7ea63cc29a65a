"""A rule: one kind of finding, with the text of its page. A rule is a file of `rules/`; adding one adds the file.

Such a file has `RULE`, a `Rule`, and `find(case)`, which yields findings of it. Codes never change their meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gapless import rule
from gapless.explain.finding import Finding, Number, Stack

if TYPE_CHECKING:
    from gapless.explain.case import Case

Find = Callable[["Case"], Iterable[Finding]]


@dataclass(frozen=True)
class Rule(rule.Rule):
    """A rule about a recording."""

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
