"""A Result is one line of the benchmark table: what we took and what a peer took for the same work, in the same run.

Absolute times belong to one machine on one day; the ratio is what may be quoted.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Result:
    """Our figure beside a peer's, measured in one run on one machine.

    Attributes:
        work: What both did, with its size: ``open 1,000,000 events``.
        unit: Of both figures: ``s``, ``ns/op``, ``MiB``. Less is better.
        ours: Our figure.
        peer: The peer's name; empty where there is none and the target is absolute.
        theirs: The peer's figure; ``None`` without a peer.
        target: Least ratio theirs / ours that is asked for, or without a peer the largest figure of ours.
    """

    work: str
    unit: str
    ours: float
    peer: str = ""
    theirs: float | None = None
    target: float

    @property
    def ratio(self) -> float | None:
        """How many times better than the peer; ``None`` without a peer."""
        return None if self.theirs is None else self.theirs / self.ours

    @property
    def reached(self) -> bool:
        """Whether the target is met."""
        return self.ours <= self.target if self.ratio is None else self.ratio >= self.target


class Unavailable(Exception):  # noqa: N818  not a failure of the benchmark
    """What a benchmark compares with is not on this machine; the text says what and how to get it."""
