"""CONF6xx: what `gapless conf` finds in the settings of a recording.

The text is the one that the recording exports, read as its release reads it. It was read by a PyTorch that ran, so what
would have stopped it is a warning here. Advice for other programs and other releases is left to `gapless conf`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.conf.check import RULES as CONF_RULES
from gapless.conf.check import check
from gapless.explain.rule import Rule
from gapless.units import KIB

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULES = tuple(Rule(**vars(rule)) for rule in CONF_RULES)
_BY_CODE = {rule.code: rule for rule in RULES}
_SPOKEN_OF = {"CONF608"}
"""Worth knowing, and about this recording."""
_LONGEST_TEXT = 16 * KIB


def find(case: Case) -> Iterator[Finding]:
    """Warnings about the recorded settings, and what in them does nothing."""
    text = case.recording.settings_text
    if not text or len(text) > _LONGEST_TEXT:
        return
    for found in check(text, case.recording.release):
        if found.severity == "info" and found.code not in _SPOKEN_OF:
            continue
        yield _BY_CODE[found.code].finding(
            f"{_sentence(found.message)}.",
            severity="info" if found.severity == "info" else "warning",
            what_to_do=f"{_sentence(found.hint)}." if found.hint else "",
            measurements=found.measurements,
        )


def _sentence(text: str) -> str:
    """With a capital, unless it begins with the name of an option."""
    first = text.partition(" ")[0]
    return text if "_" in first or ":" in first else text[:1].upper() + text[1:]
