"""A rank of a job: one device of a snapshot, or a log where there is no snapshot of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gapless.recording.recording import ACTION

if TYPE_CHECKING:
    from gapless.explain.engine import Explanation
    from gapless.explain.log import LogExplanation

_RANK = re.compile(r"rank[^0-9]{0,2}(\d{1,6})")
NUMBER = re.compile(r"\d{1,6}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Rank:
    """One device of a snapshot, or a log. Sizes are bytes at the moment of failure; None where a log has none."""

    explanation: Explanation | LogExplanation
    path: str
    device: int | None
    has_failed: bool
    failed_us: int | None
    """When; None when nothing failed, or a log does not tell."""
    requested_bytes: int | None
    allocated_bytes: int | None
    reserved_bytes: int | None
    free_bytes: int | None
    allocated_bytes_peak: int | None
    """The most that was allocated."""
    needed_bytes_peak: int | None
    """The same, or what would have been with the request that failed."""
    behaviour: Mapping[object, float]
    """Share of the allocations by stack; empty where nothing is recorded."""

    @property
    def name(self) -> str:
        """The file's name, and the device where it is not the first."""
        return Path(self.path).name + (f" device {self.device}" if self.device and not self.is_log else "")

    @property
    def is_log(self) -> bool:
        """Whether there is no more than a log of it."""
        return not self.behaviour and self.allocated_bytes_peak is None

    def to_json(self) -> dict[str, Any]:
        """Its row of the table."""
        return {
            "path": self.path,
            "kind": "log" if self.is_log else "snapshot",
            "device": self.device,
            "code": self.explanation.verdict.code,
            "has_failed": self.has_failed,
            "failed_time_us": self.failed_us,
            "requested_bytes": self.requested_bytes,
            "allocated_bytes": self.allocated_bytes,
            "reserved_bytes": self.reserved_bytes,
            "free_bytes": self.free_bytes,
            "allocated_bytes_peak": self.allocated_bytes_peak,
            "needed_bytes_peak": self.needed_bytes_peak,
        }


def rank_of_name(name: str) -> int | None:
    """The rank that a file's name tells.

    >>> rank_of_name("oom_rank12_20260101.pickle"), rank_of_name("3.log"), rank_of_name("train.log")
    (12, 3, None)
    """
    stem = name.partition(".")[0]
    named = _RANK.search(stem.lower())
    numbers = [named[1]] if named else NUMBER.findall(stem)
    return int(numbers[-1]) if numbers else None


def rank_of_recording(explanation: Explanation) -> Rank:
    """The row of a device of a snapshot."""
    recording, case, facts = explanation.recording, explanation.case, explanation.facts
    times, event = recording.events.time_us, case.recorded_moment.event
    has_failed = case.recorded_moment.is_failure or case.options.outside_failure is not None
    # A library that failed did so after all that was recorded.
    timed = has_failed and len(times) > 0
    peak = int(recording.curves["allocated"].max())
    request = (facts.rounded_bytes or 0) if case.moment.is_failure else 0
    return Rank(
        explanation=explanation,
        path=recording.path,
        device=recording.device,
        has_failed=has_failed,
        failed_us=int(times[min(event, len(times) - 1)]) if timed else None,
        requested_bytes=facts.requested_bytes,
        allocated_bytes=facts.allocated_bytes,
        reserved_bytes=facts.reserved_bytes,
        free_bytes=facts.free_bytes,
        allocated_bytes_peak=peak,
        needed_bytes_peak=max(peak, facts.allocated_bytes + request),
        behaviour=_behaviour(explanation),
    )


def rank_of_log(explanation: LogExplanation) -> Rank:
    """The row of a log; its memory is as PyTorch's message prints it."""
    state = explanation.to_json()["state"] or {}
    return Rank(
        explanation=explanation,
        path=explanation.path,
        device=explanation.numbers.message.device if explanation.numbers else None,
        has_failed=explanation.findings[0].severity == "error",
        failed_us=None,
        requested_bytes=state.get("segment_bytes"),
        allocated_bytes=state.get("allocated_bytes"),
        reserved_bytes=state.get("reserved_bytes"),
        free_bytes=state.get("free_bytes"),
        allocated_bytes_peak=None,
        needed_bytes_peak=None,
        behaviour={},
    )


def _behaviour(explanation: Explanation) -> dict[object, float]:
    """Of each stack its share of the allocations; of each size, where no stack was recorded at all."""
    events, stacks = explanation.recording.events, explanation.case.stacks
    allocs = np.flatnonzero(events.action == ACTION["alloc"])
    if not len(allocs):
        return {"no allocation": 1.0}
    rows = stacks.rows(events.stack[allocs])
    has_stacks = bool((rows < stacks.count).any())
    kept, counts = np.unique(rows if has_stacks else events.size[allocs], return_counts=True)
    found: dict[object, float] = {}
    for key, count in zip(kept.tolist(), counts.tolist(), strict=True):
        name: object = key if not has_stacks else stacks.stack(key) if key < stacks.count else None
        found[name] = found.get(name, 0.0) + count / len(allocs)
    return found
