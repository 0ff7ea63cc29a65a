"""What PyTorch accepts although nobody meant it: duplicates, numbers with junk behind them, swallowed punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gapless.conf.findings import Finding, Repair, Subject, finding
from gapless.conf.merge import format_value
from gapless.conf.options import Kind, Option
from gapless.conf.parse import ParsedItem
from gapless.conf.problems import bare, shown
from gapless.rule import Rule

DUPLICATE = Rule(
    "CONF605",
    "duplicate-option",
    "warning",
    "An option that stands in the text twice.",
    "The last one counts, silently. Often a launcher has appended its own value to the user's.",
    "The names in the settings text are counted, other spellings of one option as one.",
    "Keep one.",
)
PARTLY_READ = Rule(
    "CONF606",
    "number-read-partly",
    "warning",
    "A number with something behind it, or a sign before it, that PyTorch does not read as it looks.",
    "PyTorch takes the leading digits and ignores the rest: 100garbage and 100.5 are 100, 1e3 is 1, 0x20 is 0. A"
    " negative size wraps around and becomes practically unlimited.",
    "What the release reads of a value is held against the value as it is written.",
    "Write plain digits; sizes are whole MiB without a unit.",
)
SWALLOWED = Rule(
    "CONF607",
    "punctuation-swallowed",
    "warning",
    "Wrong punctuation that this release steps over.",
    "From 2.10 PyTorch no longer looks which sign stands between names and values, so a wrong one goes unnoticed there;"
    " older releases stop at it, and what it hides may not be read at all.",
    "The settings text is read as the release reads it; what is no option:value pair and yet no error was stepped"
    " over.",
    "Write option:value pairs with commas between them.",
)
RULES = (DUPLICATE, PARTLY_READ, SWALLOWED)

_WHOLE = re.compile(r"\+?\d+", re.ASCII)
_REAL = re.compile(r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LIST = re.compile(r"\[((>|\d+):\d+,?)*\]", re.ASCII)
_EXPECTED = {
    Kind.MIB: _WHOLE,
    Kind.COUNT: _WHOLE,
    Kind.FRACTION: _REAL,
    Kind.DIVISIONS: re.compile(f"{_WHOLE.pattern}|{_LIST.pattern}", re.ASCII),
    Kind.BOOL: re.compile("True|False"),
    Kind.BACKEND: re.compile(r"\w+", re.ASCII),
}


def look(subject: Subject) -> Iterator[Finding]:
    """Duplicates first, then values as they stand in the text."""
    yield from _duplicates(subject)
    for item in subject.parsed.items:
        if item.option is not None and item.applied:
            yield from _value(subject, item, item.option)
        elif not item.applied and not subject.parsed.problems:
            message = f"{shown(item.key)} was stepped over unread"
            yield finding(SWALLOWED, message, "write option:value, with commas between", position=item.start)


def _duplicates(subject: Subject) -> Iterator[Finding]:
    last: dict[str, ParsedItem] = {}
    for item in subject.parsed.items:
        if item.option is None:
            continue
        before = last.get(item.option.name)
        if before is not None:
            counts, lost = bare(item.value or ""), bare(before.value or "")
            message = f"{item.option.name} is set twice; {counts} counts, {lost} does not"
            repair = Repair(before.start, None)
            yield finding(DUPLICATE, message, "keep one", position=before.start, repair=repair)
        last[item.option.name] = item


def _value(subject: Subject, item: ParsedItem, option: Option) -> Iterator[Finding]:
    value = item.value
    if value is not None and _EXPECTED[option.kind].fullmatch(value):
        return
    if value is None or _outside_brackets(value):
        message = f"the punctuation after {item.key} is wrong, and PyTorch {subject.parsed.release} steps over it"
        yield finding(SWALLOWED, message, "write option:value, with commas between", position=item.start)
        return
    read = format_value(option, getattr(subject.settings, option.field))
    if subject.position(option.field) != item.start:
        return  # replaced by a duplicate, so what was read of it is gone
    message = f"{item.key}:{value} is read as {read}"
    hint = f"write {item.key}:{read}" if value[:1] != "-" else f"write a positive number, or leave {item.key} out"
    repair = Repair(item.start, f"{item.key}:{read}" if value[:1] != "-" else None)
    yield finding(PARTLY_READ, message, hint, position=item.start, repair=repair)


def _outside_brackets(value: str) -> bool:
    """Whether a value holds a sign that belongs into a list only."""
    return bool(re.search(r"[:\[\]]", re.sub(r"^\[[^\[\]]*\]$", "", value)))
