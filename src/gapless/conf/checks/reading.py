"""What PyTorch refuses: unknown options, options of other releases, bad values, broken punctuation."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from gapless.conf.dialects import dialect_of
from gapless.conf.findings import Finding, Repair, Subject, finding
from gapless.conf.options import Kind, Option, find
from gapless.conf.parse import ParsedItem, parse
from gapless.conf.problems import ELSEWHERE, Problem, nearest
from gapless.conf.settings import Settings
from gapless.rule import Rule
from gapless.units import MIB

UNKNOWN = Rule(
    "CONF601",
    "unknown-option",
    "error",
    "A name that no known release of PyTorch reads.",
    "PyTorch stops reading there. In the environment that means that every use of the GPU fails; at run time the"
    " options before it are in force and those after it are not.",
    "The settings text is read as the release reads it, and each name is looked up among the options of every"
    " release; the first problem is where PyTorch stops, later ones are looked at one by one.",
    "Correct the name; the nearest known one is given.",
)
OTHER_RELEASE = Rule(
    "CONF602",
    "option-of-another-release",
    "error",
    "An option that came later than the release in use.",
    "PyTorch treats it as an unknown name and stops there, so one line cannot serve old and new releases if it holds a"
    " new option.",
    "The settings text is read as the release reads it; the name is an option of a later release.",
    "Remove the option or use a release that has it.",
)
BAD_VALUE = Rule(
    "CONF603",
    "bad-value",
    "error",
    "A value that the release refuses: out of range, not a number, not True or False, not a power of two.",
    "PyTorch stops reading there. Some bounds moved: max_split_size_mb:20 is refused up to 2.9 and accepted from 2.10;"
    " from 2.11 the lower bound is large_segment_size_mb.",
    "The settings text is read as the release reads it, and each value is held against what that release accepts.",
    "Use a value in the accepted range, which the message gives for the release.",
)
SYNTAX = Rule(
    "CONF604",
    "broken-punctuation",
    "error",
    "A missing value, colon, comma or closing bracket.",
    "PyTorch stops reading there. From 2.10 a missing value already ends the process while torch is imported; up to 2.6"
    " a list cut after a value was seen to crash.",
    "The settings text is read sign by sign as the release reads it, which changed with 2.10.",
    "Write option:value pairs with commas between them, and close every bracket.",
)
RULES = (UNKNOWN, OTHER_RELEASE, BAD_VALUE, SYNTAX)

_SYNTAX_CODES = ("missing-colon", "missing-value", "wrong-separator", "unclosed-list")
_SURELY_MEANT = 0.8
"""Likeness of two names above which one is taken for the other."""
_MOST_ITEMS = 200
"""Items looked at one by one after the first problem; a person writes ten."""


def look(subject: Subject) -> Iterator[Finding]:
    """The problem at which PyTorch stops, then those that would be met next."""
    if not subject.parsed.problems:
        return
    first = subject.parsed.problems[0]
    yield _finding(subject, first, "", _item_at(subject, first.position))
    for item in subject.parsed.items[:_MOST_ITEMS]:
        if not item.applied and not item.start <= first.position <= item.end:
            yield from _alone(subject, item)


def _alone(subject: Subject, item: ParsedItem) -> Iterator[Finding]:
    """What is wrong with an item by itself."""
    before = Settings(large_segment_size=subject.settings.large_segment_size)
    text = subject.parsed.text[item.start : item.end]
    for problem in parse(text, subject.parsed.release, before, at_load=True).problems:
        moved = Problem(
            problem.code,
            problem.key,
            problem.position + item.start,
            problem.message,
            problem.hint,
            problem.torch_error,
        )
        yield _finding(subject, moved, "further on, ", item)


def _item_at(subject: Subject, position: int) -> ParsedItem | None:
    return next((item for item in subject.parsed.items if item.start <= position <= item.end), None)


def _finding(subject: Subject, problem: Problem, prefix: str, item: ParsedItem | None) -> Finding:
    if problem.code == "unknown-key":
        rule = OTHER_RELEASE if find(problem.key) else UNKNOWN
    else:
        rule = SYNTAX if problem.code in _SYNTAX_CODES else BAD_VALUE
    said = f" (PyTorch says: {problem.torch_error.strip()})" if problem.torch_error and not prefix else ""
    ends = rule is SYNTAX and subject.previous is None and dialect_of(subject.parsed.release).gaps_are_assertions
    return finding(
        rule,
        f"{prefix}{problem.message}{said}" + ("; import torch already ends the process" if ends else ""),
        problem.hint,
        position=problem.position,
        measurements={"torch_error": problem.torch_error.strip()},
        repair=_repair(subject, problem, item) if item else None,
    )


def _repair(subject: Subject, problem: Problem, item: ParsedItem) -> Repair | None:
    if problem.code == "unknown-key":
        return _renamed(subject, item)
    if item.option is None:
        return None
    if problem.code == "not-a-bool" and (meant := _meant(item.value or "")):
        return Repair(item.start, f"{item.key}:{meant}")
    if problem.code == "out-of-range":
        return Repair(item.start, _nearest_value(subject, item.option, item))
    return None


def _renamed(subject: Subject, item: ParsedItem) -> Repair | None:
    """The item under the name that was meant; taken out where the release lacks it; None where no name is near."""
    key, value, release = item.key, item.value, subject.parsed.release
    if value is None:
        key, equals, value = key.partition("=")
        if not equals:
            return None
    option = find(key)
    if option is not None:
        return Repair(item.start, f"{key}:{value}" if option.since <= release else None)
    if key in ELSEWHERE:
        return Repair(item.start, None)
    like = nearest(key, release)
    close = bool(like) and difflib.SequenceMatcher(None, like, key.lower()).ratio() > _SURELY_MEANT
    return Repair(item.start, f"{like}:{value}") if close else None


def _meant(value: str) -> str:
    word = value.lower()
    if word in ("true", "1", "yes", "on"):
        return "True"
    return "False" if word in ("false", "0", "no", "off") else ""


def _nearest_value(subject: Subject, option: Option, item: ParsedItem) -> str | None:
    bounds = option.bounds_in(subject.parsed.release)
    if option.kind is not Kind.MIB or bounds is None:
        return None
    least = int(bounds.least)
    if bounds.least_is_large_segment:
        least = subject.settings.large_segment_size // MIB
    return f"{item.key}:{least + bounds.above_least}"
