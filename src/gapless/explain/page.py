"""The page of a rule, in Markdown: the same text in the documentation and in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gapless.explain.rule import Rule


def page_of(rule: Rule) -> str:
    """The whole page of a rule."""
    parts = [
        f"# {rule.code} {rule.name}",
        f"Severity: {rule.severity}, unless more is known.",
        f"## What it finds\n\n{rule.finds}",
        f"## Why it matters\n\n{rule.why}",
        f"## How it is measured\n\n{rule.measured}",
        f"## What to do\n\n{rule.do}",
    ]
    if rule.links:
        parts.append("## Links\n\n" + "\n".join(f"- <{link}>" for link in rule.links))
    return "\n\n".join(parts) + "\n"


def table_of(rules: Iterable[Rule]) -> str:
    """A table of rules with links to their pages."""
    rows = [f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity} | {rule.finds} |" for rule in rules]
    head = "# Codes\n\nEach page is written from the file of its rule.\n"
    return "\n".join([head, "| code | name | severity | finds |", "|---|---|---|---|", *rows]) + "\n"
