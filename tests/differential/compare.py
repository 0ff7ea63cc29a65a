"""Where the real allocator and ours first differ.

Compared line by line: every operation, its decisions in order, snapshots and statistics. Of errors only that there was
one, as the library's texts name its source files; an error after an `oom` line is that line's own exception.
"""

from __future__ import annotations

from dataclasses import dataclass

_CONTEXT_BEFORE, _CONTEXT_AFTER = 12, 4
# Fixed when the allocator is made, and kept by the harness at its default.
_NOT_COMPARED = ("stat max_split_size=",)


@dataclass(frozen=True)
class Difference:
    """The first line that differs, with what came before and after it on either side."""

    line: int
    real: list[str]
    ours: list[str]

    def __str__(self) -> str:
        def shown(lines: list[str]) -> str:
            return "".join(f"\n      {line}" for line in lines)

        return f"line {self.line}\n    real:{shown(self.real)}\n    ours:{shown(self.ours)}"


def first_difference(real: list[str], ours: list[str]) -> Difference | None:
    """The first difference between what the harness printed and what our allocator did, or None."""
    real, ours = _comparable(real), _comparable(ours)
    for at, (one, other) in enumerate(zip(real, ours, strict=False)):
        if one != other and not (one.startswith("error") and other.startswith("error")):
            return _difference(at, real, ours)
    return None if len(real) == len(ours) else _difference(min(len(real), len(ours)), real, ours)


def _difference(at: int, real: list[str], ours: list[str]) -> Difference:
    window = slice(max(0, at - _CONTEXT_BEFORE), at + _CONTEXT_AFTER)
    return Difference(at, real[window], ours[window])


def _comparable(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        is_exception_of_oom = line.startswith("error") and kept[-1:] and kept[-1].startswith("oom ")
        if not is_exception_of_oom and not line.startswith(_NOT_COMPARED):
            kept.append(line)
    return kept
