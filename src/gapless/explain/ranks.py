"""The ranks of one job, side by side: which failed first, and which differs from its like.

Note [Outliers]

The first failure is the cause; what the others report is often its consequence. Clocks of ranks are compared as
recorded: machines whose clocks differ can be told apart only as well as their clocks agree.

Ranks of one job need not do the same: stages of a pipeline hold other layers. So a rank is held against those of like
behaviour only, which allocate with the same stacks equally often, and by the most that it had or wanted in use: that
does not depend on the moment at which each of them ended.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gapless.explain.engine import Explanation
from gapless.explain.outlier import explained_as_outlier
from gapless.explain.rank import NUMBER, Rank, rank_of_log, rank_of_recording
from gapless.explain.rules import FALLBACK

if TYPE_CHECKING:
    from gapless.explain.log import LogExplanation

SCHEMA = "gapless.explain.ranks/1"
_LEAST_RANKS = 3
_OUTLYING_SHARE = 0.05
"""Of the median of memory in use: ranks of like behaviour differ by less."""
_ALIKE = 0.75
"""Least share of their allocations that two ranks of like behaviour make with the same stacks."""


@dataclass(frozen=True)
class Outlier:
    """A rank that needs more or less than its like."""

    rank: Rank
    like: tuple[Rank, ...]
    """All of like behaviour, itself among them."""
    median_bytes: int
    """Of the most that each of them had in use."""


@dataclass(frozen=True)
class Ranks:
    """All ranks of a job, in order of their names; at least one."""

    all: tuple[Rank, ...]

    @property
    def first_failure(self) -> Rank | None:
        """The rank that failed first; of those without a time the first by name; None when none failed."""
        failed = [rank for rank in self.all if rank.has_failed]
        timed = [rank for rank in failed if rank.failed_us is not None]
        return min(timed, key=lambda rank: rank.failed_us or 0, default=next(iter(failed), None))

    @property
    def outlier(self) -> Outlier | None:
        """The rank that is farthest from its like; None when all are alike, or are too few to tell."""
        found: list[tuple[float, Outlier]] = []
        for group in self._groups():
            peaks = [rank.needed_bytes_peak or 0 for rank in group]
            median = statistics.median(peaks)
            distance = [abs(peak - median) / max(median, 1) for peak in peaks]
            farthest = max(range(len(group)), key=distance.__getitem__)
            if len(group) >= _LEAST_RANKS and distance[farthest] > _OUTLYING_SHARE:
                found.append((distance[farthest], Outlier(group[farthest], tuple(group), int(median))))
        return max(found, key=lambda one: one[0], default=(0.0, None))[1]

    @property
    def that_matter(self) -> tuple[Rank, ...]:
        """The first failure and the outlier; without either the rank that holds most."""
        first, outlier = self.first_failure, self.outlier
        found = dict.fromkeys(rank for rank in (first, outlier.rank if outlier else None) if rank is not None)
        return tuple(found) or (max(self.all, key=lambda rank: rank.reserved_bytes or 0),)

    def explanation_of(self, rank: Rank) -> Explanation | LogExplanation:
        """What is said of a rank: of an outlier with which nothing else is wrong, that it is one."""
        outlier, found = self.outlier, rank.explanation
        if outlier is None or outlier.rank is not rank or not isinstance(found, Explanation) or rank.has_failed:
            return found
        if found.verdict.code != FALLBACK:
            return found
        usual = min(outlier.like, key=lambda like: abs((like.needed_bytes_peak or 0) - outlier.median_bytes))
        if not isinstance(usual.explanation, Explanation):
            return found
        return explained_as_outlier(found, usual.explanation, len(outlier.like), outlier.median_bytes)

    def _groups(self) -> list[list[Rank]]:
        groups: list[list[Rank]] = []
        for rank in self.all:
            if rank.behaviour:
                like = (group for group in groups if _overlap(group[0].behaviour, rank.behaviour) >= _ALIKE)
                group = next(like, None)
                groups.append([rank]) if group is None else group.append(rank)
        return groups

    def to_json(self) -> dict[str, Any]:
        """The table, and the explanations of the ranks that matter."""
        first, outlier = self.first_failure, self.outlier
        return {
            "schema": SCHEMA,
            "first_failure": first.to_json() if first else None,
            "outlier": outlier.rank.to_json() if outlier else None,
            "ranks": [rank.to_json() for rank in self.all],
            "explanations": [self.explanation_of(rank).to_json() for rank in self.that_matter],
        }


def join_ranks(explanations: Sequence[Explanation], logs: Sequence[LogExplanation] = ()) -> Ranks:
    """Joins the explanations of a job's files, one for each device and each log that stands alone; at least one."""
    ranks = [*map(rank_of_recording, explanations), *map(rank_of_log, logs)]
    return Ranks(tuple(sorted(ranks, key=lambda rank: _natural(rank.name))))


def _overlap(one: Mapping[object, float], other: Mapping[object, float]) -> float:
    return sum(min(share, other.get(stack, 0.0)) for stack, share in one.items())


def _natural(name: str) -> tuple[object, ...]:
    """An order in which rank10 comes after rank9."""
    return tuple(int(number) for number in NUMBER.findall(name)), name
