"""`gapless rule CODE`: what a code means, how it is measured, and what to do about it."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from typing import TYPE_CHECKING, Any

from gapless.cli.common import FORMATS
from gapless.errors import InputError
from gapless.report.terminal import Terminal

if TYPE_CHECKING:
    from gapless.explain.rule import Rule

_EXAMPLES = """examples:
  gapless rule               all codes
  gapless rule FRAG201
"""
_MOST_NAMED = 3
"""Rules whose names have what was asked for."""
_LEAST_PART = 3
"""Characters of a name that tell it from most others."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "rule",
        help="what a code means, how it is measured, what to do",
        description="Says what a code of `gapless explain` means; without a code it lists all.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("code", nargs="?", metavar="CODE", help="like FRAG201, or a name like pinned-segments")
    parser.add_argument("--format", choices=FORMATS, default="text")


def run(args: argparse.Namespace) -> int:
    """Prints the page of a rule, or the list."""
    from gapless.explain.rules import all_rules  # noqa: PLC0415  (so that --help needs no numpy)

    rules = list(all_rules())
    found = rules if args.code is None else [_find(rules, args.code)]
    if args.format == "json":
        print(json.dumps({"schema": "gapless.rules/1", "rules": [_to_json(rule) for rule in found]}))
    elif args.code is None:
        _list(found, Terminal(sys.stdout))
    else:
        _page(found[0], Terminal(sys.stdout))
    return 0


def _find(rules: list[Rule], asked: str) -> Rule:
    for rule in rules:
        if asked.upper() == rule.code or asked.lower() == rule.name:
            return rule
    near = _near(rules, asked)
    hint = f"did you mean {near}? " if near else ""
    raise InputError(f"there is no code {asked[:60]!r}", hint=f"{hint}`gapless rule` lists all")


def _near(rules: list[Rule], asked: str) -> str:
    """The rules that have what is asked for in their code or name, else the one that is most like it."""
    part, code = asked.lower(), asked.upper().rstrip("X") or asked.upper()
    having = (
        [rule for rule in rules if part in rule.name or rule.code.startswith(code)] if len(part) >= _LEAST_PART else []
    )
    if having:
        more = len(having) - _MOST_NAMED
        named = " or ".join(f"{rule.code} {rule.name}" for rule in having[:_MOST_NAMED])
        return named + (f" or one of {more} more" if more > 0 else "")
    names = [name for rule in rules for name in (rule.code, rule.name)]
    like = difflib.get_close_matches(asked.upper(), names, n=1) or difflib.get_close_matches(part, names, n=1)
    return next(iter(like), "")


def _list(rules: list[Rule], terminal: Terminal) -> None:
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        severity = terminal.paint(f"{rule.severity:<8}", rule.severity)
        terminal.line(f"{rule.code:<8} {rule.name:<{width}}  {severity}".rstrip())


def _page(rule: Rule, terminal: Terminal) -> None:
    terminal.line(terminal.paint(f"{rule.code} {rule.name} ({rule.severity})", rule.severity))
    parts = (("What it finds", rule.finds), ("Why it matters", rule.why), ("How it is measured", rule.measured))
    for title, text in (*parts, ("What to do", rule.do)):
        terminal.line()
        terminal.line(terminal.paint(title, "bold"))
        terminal.paragraph(text, 2)
    if rule.links:
        terminal.line()
    for link in rule.links:
        terminal.line(link)


def _to_json(rule: Rule) -> dict[str, Any]:
    fields = ("code", "name", "severity", "finds", "why", "measured", "do")
    return {**{field: getattr(rule, field) for field in fields}, "links": list(rule.links)}
