"""What a run assumed about values that it cannot know, and where in the user's code."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

_OURS = ("/torch/", "/gapless/virtual/", "<frozen", "<string>")


@dataclass(frozen=True)
class Assumption:
    """One place where a value was used that is not known."""

    kind: str
    """`value` read, `branch` taken, `size` chosen, or `message` that nobody sent."""
    file: str
    line: int
    assumed: str


class Assumptions:
    """Collects them; each place counts once, with how often it was passed."""

    def __init__(self, selected: float = 0.5) -> None:
        self._selected = selected
        self._seen: Counter[Assumption] = Counter()

    def note_read(self, tensor: Any, is_known: bool) -> None:
        """A value came back to the program."""
        if not is_known:
            self._note("value", "0 was read" if tensor.numel() == 1 else "zeros were read")

    def note_finite(self) -> None:
        """A loss scale depends on whether gradients are finite."""
        self._note("branch", "gradients are finite")

    def note_not_sent(self, what: str) -> None:
        """Another rank would have sent something."""
        self._note("message", what)

    def rows_of(self, operator: str, elements: int) -> int:
        """How many of so many elements an operator selects, or finds to be different."""
        rows = round(self._selected * elements)
        self._note("size", f"{operator} of {elements:,} elements gave {rows:,}")
        return rows

    def _note(self, kind: str, assumed: str) -> None:
        file, line = _place()
        self._seen[Assumption(kind, file, line, assumed)] += 1

    def to_json(self) -> list[dict[str, Any]]:
        """All of them, as they came first."""
        return [
            {"kind": one.kind, "file": one.file, "line": one.line, "assumed": one.assumed, "times": times}
            for one, times in self._seen.items()
        ]


def _place() -> tuple[str, int]:
    """The innermost line that is neither PyTorch's nor ours; the outermost where there is none."""
    frame = sys._getframe(1)
    while frame.f_back is not None and any(part in frame.f_code.co_filename for part in _OURS):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
