"""How other releases read the same text."""

from __future__ import annotations

from collections.abc import Iterator

from gapless.conf.findings import Finding, Subject, finding
from gapless.conf.merge import format_value
from gapless.conf.options import OPTIONS
from gapless.conf.parse import ParsedConf, parse
from gapless.conf.releases import CHECKED, Release, describe
from gapless.rule import Rule

DIFFERS = Rule(
    "CONF617",
    "differs-by-release",
    "info",
    "A text that other releases read differently, or refuse.",
    "One line is often used with several releases: on a laptop, in an image, on a cluster. A release that refuses it"
    " fails at the first use of the GPU.",
    "The settings text is read as each release from 2.1 to 2.14 reads it, and the results are compared.",
    "Use a line that all your releases read alike, or one line for each.",
)
RULES = (DIFFERS,)

_LONGEST_TEXT = 10_000
"""Characters beyond which a text is not a person's, and not worth fourteen readings."""


def look(subject: Subject) -> Iterator[Finding]:
    """One finding for each other reading, oldest first."""
    parsed = subject.parsed
    if subject.previous is not None or len(parsed.text) > _LONGEST_TEXT:
        return
    readings: dict[str, list[Release]] = {}
    for release in CHECKED:
        other = parse(parsed.text, release, at_load=True)
        difference = _difference(parsed, other)
        if difference:
            readings.setdefault(difference, []).append(release)
    for difference, releases in readings.items():
        names = describe(tuple(releases))
        yield finding(DIFFERS, f"PyTorch {names}: {difference}", "", measurements={"releases": names})


def _difference(here: ParsedConf, there: ParsedConf) -> str:
    if there.problems:
        return "" if here.problems else f"stops, because {_without_release(there)}"
    if here.problems:
        return "reads it without complaint"
    changed = [
        f"{option.name} is {format_value(option, getattr(there.settings, option.field))}"
        for option in OPTIONS
        if _value(there, option.field) != _value(here, option.field)
    ]
    return ", ".join(changed)


def _without_release(parsed: ParsedConf) -> str:
    """The problem's message, the same for neighbouring releases."""
    return parsed.problems[0].message.replace(f"PyTorch {parsed.release} ", "it ", 1)


def _value(parsed: ParsedConf, field: str) -> object:
    return getattr(parsed.settings, field)
