"""The ranks of one job, side by side: which failed first, and which differs from its like.

The first failure is the cause; what the others report is often its consequence. Clocks of ranks are compared as
recorded: machines whose clocks differ can be told apart only as well as their clocks agree.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.explain.engine import Explanation

SCHEMA = "gapless.explain.ranks/1"
_LEAST_RANKS = 3
_OUTLYING_SHARE = 0.05
"""Of the median of memory in use: ranks of like behaviour differ by less."""


@dataclass(frozen=True)
class Rank:
    """One device of one file."""

    explanation: Explanation

    @property
    def name(self) -> str:
        """The file's name, and the device where it is not the first."""
        recording = self.explanation.recording
        return Path(recording.path).name + (f" device {recording.device}" if recording.device else "")

    @property
    def failed_us(self) -> int | None:
        """When its request failed; None when nothing did."""
        moment = self.explanation.case.moment
        return int(self.explanation.recording.events.time_us[moment.event]) if moment.is_failure else None

    def to_json(self) -> dict[str, Any]:
        """Its row of the table."""
        facts, verdict = self.explanation.facts, self.explanation.verdict
        recording = self.explanation.recording
        return {
            "path": recording.path,
            "device": recording.device,
            "code": verdict.code,
            "failed_time_us": self.failed_us,
            "requested_bytes": facts.requested_bytes,
            "allocated_bytes": facts.allocated_bytes,
            "reserved_bytes": facts.reserved_bytes,
            "free_bytes": facts.free_bytes,
        }


@dataclass(frozen=True)
class Ranks:
    """All ranks of a job, in order of their names."""

    all: tuple[Rank, ...]

    @property
    def first_failure(self) -> Rank | None:
        """The rank whose request failed first; None when none failed."""
        failed = [rank for rank in self.all if rank.failed_us is not None]
        return min(failed, key=lambda rank: rank.failed_us or 0, default=None)

    @property
    def outlier(self) -> Rank | None:
        """The rank whose memory in use is farthest from the median; None when all are alike, or are too few to tell."""
        if len(self.all) < _LEAST_RANKS:
            return None
        in_use = [rank.explanation.facts.allocated_bytes for rank in self.all]
        median = statistics.median(in_use)
        distance = [abs(size - median) for size in in_use]
        farthest = max(range(len(in_use)), key=distance.__getitem__)
        return self.all[farthest] if distance[farthest] > _OUTLYING_SHARE * median else None

    @property
    def that_matter(self) -> tuple[Rank, ...]:
        """The first failure and the outlier; without either the rank that holds most."""
        found = dict.fromkeys(rank for rank in (self.first_failure, self.outlier) if rank is not None)
        most = max(self.all, key=lambda rank: rank.explanation.facts.reserved_bytes)
        return tuple(found) or (most,)

    def to_json(self) -> dict[str, Any]:
        """The table, and the explanations of the ranks that matter."""
        first, outlier = self.first_failure, self.outlier
        return {
            "schema": SCHEMA,
            "first_failure": first.to_json() if first else None,
            "outlier": outlier.to_json() if outlier else None,
            "ranks": [rank.to_json() for rank in self.all],
            "explanations": [rank.explanation.to_json() for rank in self.that_matter],
        }


def join_ranks(explanations: Sequence[Explanation]) -> Ranks:
    """Joins the explanations of a job's files, one for each device; at least one."""
    return Ranks(tuple(sorted(map(Rank, explanations), key=lambda rank: _natural(rank.name))))


def _natural(name: str) -> tuple[object, ...]:
    """An order in which rank10 comes after rank9."""
    digits = "".join(c if c.isdigit() else " " for c in name).split()
    return tuple(int(number) for number in digits), name
