"""Whether a test took too much, and the explanation of what it took."""

from __future__ import annotations

import io
import itertools
from typing import TYPE_CHECKING

from gapless.report.explanation import to_text
from gapless.report.terminal import Terminal
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.pytest_plugin.isolated import Took
    from gapless.pytest_plugin.marker import Limits

_CALLS_TO_COMPARE = 3


def complaints(took: Took, limits: Limits, *, passed: bool) -> list[str]:
    """What was too much, each with its explanation; of a test that failed, why memory ran out if it did."""
    if not passed:
        return [explained(one) for one in took.explanations if one.case.moment.is_failure]
    found = [
        f"{name} {format_bytes(peak)} at most, and {format_bytes(limit)} are allowed"
        for name, peak, limit in (
            ("reserved", took.reserved_bytes_peak, limits.max_reserved_bytes),
            ("allocated", took.allocated_bytes_peak, limits.max_allocated_bytes),
        )
        if limit is not None and peak > limit
    ]
    grown = growth(took.left, limits)
    found += [grown] if grown else []
    return found + [explained(one) for one in took.explanations] if found else []


def growth(left: tuple[int, ...], limits: Limits) -> str:
    """What stays allocated from call to call, where every call but the first leaves more than the one before it."""
    if len(left) < _CALLS_TO_COMPARE:
        return ""
    steps = [after - before for before, after in itertools.pairwise(left[1:])]
    if min(steps) <= limits.max_growth_bytes:
        return ""
    said = ", ".join(format_bytes(size) for size in left)
    return f"memory in use grows with every call: {said}; {format_bytes(limits.max_growth_bytes)} a call are allowed"


def explained(explanation: Explanation) -> str:
    """The explanation as `gapless explain` prints it."""
    stream = io.StringIO()
    to_text(explanation, [], Terminal(stream))
    return stream.getvalue().rstrip()
