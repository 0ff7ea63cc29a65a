"""The rules, one file each. A file that is put here is found by itself.

A file has `find(case)`, which yields findings, and `RULE`, or `RULES` where it speaks for several codes.
"""

from __future__ import annotations

import pkgutil
from functools import lru_cache
from importlib import import_module

from gapless.explain.rule import Find, Rule, RuleFile

FALLBACK = "OK000"
"""The rule that speaks when no other speaks of an error."""


@lru_cache(maxsize=1)
def rule_files() -> tuple[RuleFile, ...]:
    """Every file of rules, in order of their names."""
    return tuple(_read(found.name) for found in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name))


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by code."""
    return tuple(sorted((rule for file in rule_files() for rule in file.rules), key=lambda rule: rule.code))


def rule_of(code: str) -> Rule | None:
    """The rule of a code, in any case; None when there is none."""
    return next((rule for rule in all_rules() if rule.code == code.upper()), None)


def _read(name: str) -> RuleFile:
    module = import_module(f"{__name__}.{name}")
    find: Find = module.find
    return RuleFile(tuple(getattr(module, "RULES", None) or (module.RULE,)), find)
