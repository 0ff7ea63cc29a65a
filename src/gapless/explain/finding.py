"""What an explanation says, as data: findings, the verdict, and who holds, pins and adds memory.

Sizes are bytes. A number in a message can be found by name in `measurements`, so that a message can be checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from gapless.rule import Severity

Frame = tuple[str, int, str]
"""File, line, function."""
Stack = tuple[Frame, ...]
"""Frames, innermost first."""
Confidence = Literal["certain", "likely", "unsure"]
"""certain: recorded numbers alone say so; likely: an assumption is in it, which is named; unsure: facts are missing."""
Kind = Literal["weights", "gradients", "optimizer", "activations", "temporary", "unknown"]
KINDS: tuple[Kind, ...] = ("weights", "gradients", "optimizer", "activations", "temporary", "unknown")
WEIGHTS, GRADIENTS, OPTIMIZER, ACTIVATIONS, TEMPORARY, UNKNOWN = range(len(KINDS))
Number = int | float | str | bool | None


@dataclass(frozen=True)
class Finding:
    """One thing that a rule found, with the numbers that prove it."""

    code: str
    name: str
    severity: Severity
    message: str
    """What happened, one or two sentences with numbers."""
    bytes: int | None = None
    """How much memory it is about."""
    measurements: Mapping[str, Number] = field(default_factory=dict)
    places: tuple[Stack, ...] = ()
    why: str = ""
    what_to_do: str = ""
    confidence: Confidence = "certain"
    besides: str | None = None
    """What of `what_to_do` holds whichever setting a replay finds to help; None: all of it."""
    names_settings: bool = False
    """Whether `what_to_do` names settings to try, which a replay may find not to help."""

    def to_json(self) -> dict[str, Any]:
        """As in gapless.explain/1."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity,
            "message": self.message,
            "why": self.why,
            "what_to_do": self.what_to_do,
            "bytes": self.bytes,
            "measurements": dict(self.measurements),
            "places": [stack_to_json(stack) for stack in self.places],
        }


@dataclass(frozen=True)
class Verdict:
    """The answer in three lines: what happened, why, what to do."""

    code: str
    name: str
    message: str
    why: str
    what_to_do: str
    confidence: Confidence

    def to_json(self) -> dict[str, Any]:
        """As in gapless.explain/1."""
        return {
            "code": self.code,
            "name": self.name,
            "message": self.message,
            "why": self.why,
            "what_to_do": self.what_to_do,
            "confidence": self.confidence,
        }


@dataclass(frozen=True)
class Holder:
    """Memory in use that was allocated at one place for one purpose."""

    place: Stack
    """The stack that allocated most of it; empty when none was recorded."""
    at: Frame | None
    """The frame of `place` that is the reader's own code, or the nearest to it."""
    kind: Kind
    bytes: int
    blocks: int

    def to_json(self) -> dict[str, Any]:
        """As in gapless.explain/1."""
        return {
            "place": stack_to_json(self.place),
            "at": frame_to_json(self.at),
            "kind": self.kind,
            "bytes": self.bytes,
            "blocks": self.blocks,
        }


@dataclass(frozen=True)
class PinningBlock:
    """A block in use that keeps its segment from being returned."""

    bytes: int
    age_events: int | None
    """Events since it was allocated; None when that was before the recording."""
    place: Stack
    at: Frame | None

    def to_json(self) -> dict[str, Any]:
        """As in gapless.explain/1."""
        return {
            "bytes": self.bytes,
            "age_events": self.age_events,
            "place": stack_to_json(self.place),
            "at": frame_to_json(self.at),
        }


@dataclass(frozen=True)
class Pin:
    """A segment with free memory, and what keeps it from being returned."""

    segment: int
    """Address."""
    size_bytes: int
    free_bytes: int
    blocks: tuple[PinningBlock, ...]

    def to_json(self) -> dict[str, Any]:
        """As in gapless.explain/1."""
        return {
            "segment": self.segment,
            "size_bytes": self.size_bytes,
            "free_bytes": self.free_bytes,
            "blocks": [block.to_json() for block in self.blocks],
        }


@dataclass(frozen=True)
class Growth:
    """Memory from one place of which there is more after each step."""

    place: Stack
    at: Frame | None
    bytes_per_step: int
    steps: int
    """Steps over which it was measured."""
    bytes_total: int
    """What it grew by in all of them."""

    def to_json(self) -> dict[str, Any]:
        """As in gapless.explain/1."""
        return {
            "place": stack_to_json(self.place),
            "at": frame_to_json(self.at),
            "bytes_per_step": self.bytes_per_step,
            "steps": self.steps,
            "bytes_total": self.bytes_total,
        }


def frame_to_json(frame: Frame | None) -> dict[str, Any] | None:
    """A frame as in STACK; None stays None."""
    return None if frame is None else {"file": frame[0], "line": frame[1], "function": frame[2]}


def stack_to_json(stack: Stack) -> list[dict[str, Any]]:
    """A stack as in STACK."""
    return [{"file": file, "line": line, "function": function} for file, line, function in stack]
