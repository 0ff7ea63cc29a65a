"""What a check of settings says: findings, each of a rule.

A rule lives beside the code that finds it, in `checks/`; `check.RULES` is the table of all. Codes never change meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from gapless.conf.options import OPTIONS
from gapless.conf.parse import ParsedConf
from gapless.conf.settings import Settings
from gapless.conf.variables import Environment
from gapless.rule import Rule, Severity


@dataclass(frozen=True)
class Repair:
    """A mechanical correction: the item that begins at a character of the text is replaced; None takes it out."""

    start: int
    text: str | None


@dataclass(frozen=True)
class Finding:
    """One thing to know about a settings string."""

    rule: Rule
    message: str
    hint: str
    severity: Severity
    position: int | None = None
    """Character of the settings string; None when it is not about one place."""
    measurements: Mapping[str, int | float | str] = field(default_factory=dict)
    repair: Repair | None = None

    @property
    def code(self) -> str:
        """The rule's code, like CONF601."""
        return self.rule.code

    @property
    def name(self) -> str:
        """The rule's name, like unknown-option."""
        return self.rule.name


@dataclass(frozen=True)
class Subject:
    """What is checked, and what is known about where it is used."""

    parsed: ParsedConf
    environment: Environment | None = None
    """Given when the text comes from there."""
    uses: frozenset[str] = frozenset()
    """Names of `check.USES` that the program is known to use."""
    previous: Settings | None = None
    """Given when the text changes settings at run time: those in force before."""

    @property
    def settings(self) -> Settings:
        """The settings in force after the text was read."""
        return self.parsed.settings

    @cached_property
    def in_effect(self) -> Settings:
        """The settings that something heeds: beside the driver's allocator, those for PyTorch's own are as if unset."""
        if self.settings.backend == "native":
            return self.settings
        usual = {option.field: getattr(Settings(), option.field) for option in OPTIONS if option.for_native}
        return replace(self.settings, **usual)

    def mentions(self, *fields: str) -> bool:
        """Whether the text sets one of these fields of `Settings`, and PyTorch took it over."""
        return any(item.applied and item.option and item.option.field in fields for item in self.parsed.items)

    def position(self, name: str) -> int | None:
        """Character at which the last item stands that sets a field of `Settings`."""
        return self._positions.get(name)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {item.option.field: item.start for item in self.parsed.items if item.option}


def finding(rule: Rule, message: str, hint: str, **more: object) -> Finding:
    """A finding of a rule, as severe as the rule is unless said otherwise."""
    return Finding(rule, message, hint, **{"severity": rule.severity, **more})  # type: ignore[arg-type]
