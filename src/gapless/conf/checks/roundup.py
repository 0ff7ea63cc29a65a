"""Which sizes roundup_power2_divisions really rounds, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator

from gapless.conf.findings import Finding, Subject, finding
from gapless.conf.releases import Release
from gapless.conf.rounding import rounded_bytes
from gapless.conf.settings import INTERVALS
from gapless.rule import Rule
from gapless.units import GIB, MIB, format_bytes

RANGES = Rule(
    "CONF615",
    "roundup-ranges",
    "info",
    "roundup_power2_divisions: the sizes that get each division, and the most that a request grows.",
    "A size in the list is where its division begins, not where it ends: the documentation's wording is off by one"
    " power of two. Up to 2.9 the value after > also replaces that of the last size. Sizes between two listed ones that"
    " are not named stay off.",
    "The divisions that the release reads of the settings text are written out for every size, and sizes are"
    " rounded by them as the allocator does.",
    "Name every power of two from the smallest to the largest that matters, and read the ranges in the message.",
)
UNROUNDED = Rule(
    "CONF616",
    "roundup-by-one",
    "warning",
    "A division of 1 up to release 2.3.",
    "Those releases then do not round at all, not even to 512 bytes: block sizes become odd and seldom fit again.",
    "Of the settings text: a division that is read is 1, and the release is 2.3 or older.",
    "Use 0 inside a list (from 2.4), leave the option out, or use a newer release.",
)
RULES = (RANGES, UNROUNDED)

_LAST_UNROUNDED = Release(2, 3)
_LAST_OVERWRITING = Release(2, 9)
_USUAL_INDEX = 10
"""Examples are of 1 GiB where they can be."""
_QUANTUM = 512


def look(subject: Subject) -> Iterator[Finding]:
    """Nothing when the option is off."""
    divisions = subject.in_effect.roundup_power2_divisions
    position = subject.position("roundup_power2_divisions")
    if 1 in divisions and subject.parsed.release <= _LAST_UNROUNDED:
        message = f"a division of 1 makes PyTorch {subject.parsed.release} leave sizes unrounded, like 1,500 bytes"
        yield finding(UNROUNDED, message, "leave sizes without a division out", position=position)
    if max(divisions) > 1:
        yield _ranges(subject, divisions, position)


def _ranges(subject: Subject, divisions: tuple[int, ...], position: int | None) -> Finding:
    worst = min(value for value in divisions if value > 1)
    shown = "; ".join(describe_ranges(divisions))
    gap = _has_gap(divisions)
    message = f"requests are rounded up by powers of two in steps, {shown}; one may grow by nearly {100 / worst:g} %"
    size = MIB << max((index for index in range(_USUAL_INDEX + 1) if divisions[index] == worst), default=0)
    taken = rounded_bytes(size + 1, subject.in_effect, subject.parsed.release)
    if taken > size + _QUANTUM:
        message += f" ({format_bytes(size)} + 1 byte takes {format_bytes(taken)})"
    if gap:
        message += "; sizes between listed ones are left off"
    text = subject.parsed.text
    hint = "name every power of two between the smallest and the largest" if gap else ""
    if not hint and ">" in text and subject.parsed.release <= _LAST_OVERWRITING:
        hint = "up to 2.9 the value after > also replaces that of the last size"
    return finding(
        RANGES,
        message,
        hint,
        severity="warning" if gap else "info",
        position=position,
        measurements={"growth_fraction_most": 1 / worst},
    )


def _has_gap(divisions: tuple[int, ...]) -> bool:
    """Whether an entry that is off lies between two that are not."""
    used = [index for index, value in enumerate(divisions) if value]
    return any(divisions[index] == 0 for index in range(used[0], used[-1]))


def describe_ranges(divisions: tuple[int, ...]) -> list[str]:
    """The ranges of sizes with equal divisions, for people.

    >>> describe_ranges((1,) * 9 + (2, 4) + (8,) * 5)
    ['below 512 MiB: off', '512 MiB to 1 GiB: 2', '1 GiB to 2 GiB: 4', 'from 2 GiB: 8']
    """
    steps = [str(value) if value > 1 else "off" for value in divisions]
    starts = [0] + [index for index in range(1, INTERVALS) if steps[index] != steps[index - 1]]
    ends = [*starts[1:], INTERVALS]
    return [f"{_span(start, end)}: {steps[start]}" for start, end in zip(starts, ends, strict=True)]


def _span(start: int, end: int) -> str:
    low, high = _size(start), _size(end)
    if start == 0:
        return f"below {high}" if end < INTERVALS else "all sizes"
    return f"from {low}" if end == INTERVALS else f"{low} to {high}"


def _size(index: int) -> str:
    size = MIB << index
    return f"{size // GIB} GiB" if size >= GIB else f"{size // MIB} MiB"
