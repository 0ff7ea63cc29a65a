"""A settings string with its mechanical mistakes mended."""

from __future__ import annotations

from collections.abc import Iterable

from gapless.conf.findings import Finding
from gapless.conf.tokens import items_of

_QUOTES = "\"'`"
_ENDS = ", \t\n\v\f\r"


def tidied(text: str) -> str:
    """The text without quotation marks and commas around it, and with commas where semicolons stand.

    >>> tidied('"a:1;b:2,"')
    'a:1,b:2'
    """
    return text.strip().strip(_QUOTES).replace(";", ",").strip(_ENDS)


def repaired(text: str, findings: Iterable[Finding]) -> str:
    """The text after the repairs of its errors and warnings; options without a repair stay as they are."""
    repairs = {
        finding.repair.start: finding.repair.text
        for finding in findings
        if finding.repair is not None and finding.severity != "info"
    }
    if not repairs:
        return text
    pieces = [repairs.get(item.start, text[item.start : item.end]) for item in items_of(text)]
    return ",".join(piece for piece in pieces if piece)
