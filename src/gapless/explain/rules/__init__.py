"""The rules, one file each. A file that is put here is found by itself."""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from importlib import import_module

from gapless.explain.rule import Find, Rule

FALLBACK = "OK000"
"""The rule that speaks when no other speaks of an error."""


@lru_cache(maxsize=1)
def all_rules() -> tuple[tuple[Rule, Find], ...]:
    """Every rule with its search, in order of code."""
    modules = (import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    return tuple(sorted(((module.RULE, module.find) for module in modules), key=lambda entry: entry[0].code))


def rule_of(code: str) -> Rule | None:
    """The rule of a code, in any case; None when there is none."""
    return next((rule for rule, _ in all_rules() if rule.code == code.upper()), None)
