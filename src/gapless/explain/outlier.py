"""What is said of a rank that differs from its like although no rule finds anything wrong with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.explain.case import open_case
from gapless.explain.frames import short_place
from gapless.explain.options import ExplainOptions
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.engine import Explanation
    from gapless.explain.finding import Frame
    from gapless.recording import Recording

_PLACES = 10_000


def explained_as_outlier(explanation: Explanation, usual: Explanation, ranks: int, median_bytes: int) -> Explanation:
    """The explanation of a rank with which nothing is wrong, but that needs more or less than ranks that do the same.

    Args:
        explanation: Of the rank.
        usual: Of one of the others.
        ranks: How many do the same, itself among them.
        median_bytes: Of the most that each of them had in use.
    """
    peak = int(explanation.recording.curves["allocated"].max())
    message = (
        f"Nothing failed on this rank, but it needed {format_bytes(peak)} at most; the median of the {ranks} ranks that"
        f" do the same is {format_bytes(median_bytes)}."
    )
    why = _difference(explanation.recording, usual.recording)
    what_to_do = "Find out why this rank does not do the same: its share of the data, of the model, or what it keeps."
    decisive, *others = explanation.findings
    return replace(
        explanation,
        verdict=replace(explanation.verdict, message=message, why=why, what_to_do=what_to_do),
        findings=(replace(decisive, message=message, why=why, what_to_do=what_to_do), *others),
    )


def _difference(one: Recording, other: Recording) -> str:
    """The place that makes the largest difference at the peaks of both; empty where no place does."""
    here, there = _by_place(one), _by_place(other)
    apart = {place: here[place] - there[place] for place in {*here, *there} if place is not None}
    place = max(apart, key=lambda place: abs(apart[place]), default=None)
    if place is None or not apart[place]:
        return ""
    held = f"{format_bytes(here[place])} here and {format_bytes(there[place])} there"
    return f"At the peaks of both, the largest difference is at {short_place(place)}: {held}."


def _by_place(recording: Recording) -> Counter[Frame | None]:
    held: Counter[Frame | None] = Counter()
    for holder in open_case(recording, ExplainOptions(at="peak", places=_PLACES)).holders:
        held[holder.at] += holder.bytes
    return held
