"""The verdict: of all errors that the rules found, the one that decides.

Note [Order of verdicts]

Rules speak of an error only where their own condition holds, so mostly one does. Where several do:

    OOM102   a request that no card would hold: whatever else is true does not matter
    OOM104   a retry would have served it: no other cause can be
    OOM103   the process's own limit refused: lifting it costs nothing, so it is looked at first
    GROW301  memory that grows with every step meets every limit sooner or later: the other causes are its consequences
    OUT501   others hold what is missing: what PyTorch did with the rest is not at fault
    OUT502   the reverse: PyTorch's cache holds what others need
    FRAG204  without the rounding it would fit, which FRAG201 and OOM101 cannot see
    FRAG202, FRAG203   a hole that fits exists, elsewhere: more exact than FRAG201
    FRAG201  enough in sum, in pieces
    OOM101   nothing more exact is known: the memory is in use

The others are true as well, but not why it failed: they stay, as warnings.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.explain.finding import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

ORDER = (
    "OOM102",
    "OOM104",
    "OOM103",
    "GROW301",
    "OUT501",
    "OUT502",
    "FRAG204",
    "FRAG202",
    "FRAG203",
    "FRAG201",
    "OOM101",
)


def deciding(findings: Sequence[Finding]) -> Finding | None:
    """The error that decides; None when there is no error. Codes that the order does not name come last."""
    errors = [finding for finding in findings if finding.severity == "error"]
    return min(errors, key=_rank, default=None)


def _rank(finding: Finding) -> int:
    return ORDER.index(finding.code) if finding.code in ORDER else len(ORDER)


def consequences(findings: Sequence[Finding], decisive: Finding) -> list[Finding]:
    """The findings with no error but the one that decides."""
    return [
        replace(finding, severity="warning") if finding.severity == "error" and finding is not decisive else finding
        for finding in findings
    ]


def verdict_of(finding: Finding) -> Verdict:
    """A finding as the answer."""
    return Verdict(
        code=finding.code,
        name=finding.name,
        message=finding.message,
        why=finding.why,
        what_to_do=finding.what_to_do,
        confidence=finding.confidence,
    )
