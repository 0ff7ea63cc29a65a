"""Checks a settings string: what PyTorch refuses, what does nothing, what contradicts, what may break.

>>> [finding.code for finding in check("garbage_collection_treshold:0.8")]
['CONF601']
"""

from __future__ import annotations

from collections.abc import Collection

from gapless.conf.checks import (
    contradictions,
    dangers,
    effects,
    environment,
    reading,
    releases,
    roundup,
    switching,
    values,
)
from gapless.conf.findings import Finding, Subject
from gapless.conf.parse import parse
from gapless.conf.problems import shown
from gapless.conf.releases import NEWEST, Release
from gapless.conf.repair import repaired, tidied
from gapless.conf.settings import Settings
from gapless.conf.variables import Environment
from gapless.errors import ConfError
from gapless.rule import SEVERITIES, Rule

_FAMILIES = (reading, values, effects, contradictions, roundup, environment, dangers, switching, releases)
RULES: tuple[Rule, ...] = tuple(
    sorted((rule for family in _FAMILIES for rule in family.RULES), key=lambda rule: rule.code)
)
"""Every rule, by code."""
USES = dangers.USES
"""What a program may be said to use, and what that means."""
LONGEST_TEXT = 131_072
"""Characters; Linux lets no environment variable be longer."""
MOST_FINDINGS = 100
_MOST_ROUNDS = 5
"""Mending one mistake can uncover another."""


def check(
    text: str,
    release: Release = NEWEST,
    *,
    environment: Environment | None = None,
    uses: Collection[str] = (),
    previous: Settings | None = None,
) -> list[Finding]:
    """What there is to know about a settings string, worst first.

    Args:
        text: What the variable holds, or what is given to a call at run time.
        release: The release that reads it.
        environment: Where the text comes from, if it is the environment.
        uses: What the program is known to use, of `USES`.
        previous: For a call at run time, the settings in force before it.

    Raises:
        ConfError: The text is longer than a variable can be, or a use is unknown.
    """
    if len(text) > LONGEST_TEXT:
        raise ConfError(
            f"the settings have {len(text):,} characters, and no environment variable has more than {LONGEST_TEXT:,}",
            hint="give the value of one variable",
        )
    for use in uses:
        if use not in USES:
            raise ConfError(f"{shown(use)} is not a use that is known here", hint=f"known: {', '.join(USES)}")
    parsed = parse(text, release, previous, at_load=previous is None)
    return check_parsed(Subject(parsed, environment, frozenset(uses), previous))


def corrected(
    text: str,
    release: Release = NEWEST,
    *,
    uses: Collection[str] = (),
    previous: Settings | None = None,
) -> str | None:
    """The text with its mechanical mistakes mended; the text itself where nothing is to mend.

    None when an error would still stand: then only the user knows what was meant. Arguments as for `check`.

    >>> corrected("expandable_segment:true;release_lock_on_cudamalloc:1", Release(2, 9))
    'expandable_segments:True,release_lock_on_cudamalloc:True'
    """
    mended = tidied(text)
    for _ in range(_MOST_ROUNDS):
        before = mended
        mended = repaired(before, check(before, release))
        if mended == before:
            break
    if parse(mended, release, at_load=True).problems:
        return None
    left = check(mended, release, uses=uses, previous=previous)
    return None if any(finding.severity == "error" for finding in left) else mended


def check_parsed(subject: Subject) -> list[Finding]:
    """The findings of every family about a text that was read already, worst first."""
    found: list[Finding] = []
    for family in _FAMILIES:
        for finding in family.look(subject):
            if len(found) >= MOST_FINDINGS:
                break
            found.append(finding)
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))
