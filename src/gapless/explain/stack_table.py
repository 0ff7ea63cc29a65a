"""The stacks of a recording, each looked at once: its frames, its place, what kind of code allocated.

Stacks are few and events many, so everything about a stack is computed on first use and kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gapless import _core
from gapless.explain.frames import place_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.finding import Frame, Stack
    from gapless.recording import Recording


@dataclass(frozen=True, eq=False)
class StackTable:
    """Frames and places by stack; the number of a stack is that of the recording."""

    recording: Recording
    _stacks: dict[int, Stack] = field(default_factory=dict)
    _places: dict[int, Frame | None] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of stacks recorded."""
        return len(self.recording.snapshot.stacks)

    def stack(self, number: int) -> Stack:
        """Frames, innermost first; empty when none was recorded."""
        if number not in self._stacks:
            self._stacks[number] = tuple(self.recording.stack(number))
        return self._stacks[number]

    def place(self, number: int) -> Frame | None:
        """The frame to look at; None when none was recorded."""
        if number not in self._places:
            frames = self.stack(number)
            index = place_index(frames)
            self._places[number] = frames[index] if index >= 0 else None
        return self._places[number]

    @cached_property
    def place_numbers(self) -> NDArray[np.int64]:
        """For each stack the number of its place, equal places having equal numbers; the last entry: no stack."""
        known: dict[Frame | None, int] = {None: 0}
        numbers = [known.setdefault(self.place(stack), len(known)) for stack in range(self.count)]
        return np.array([*numbers, 0], dtype=np.int64)

    def place_of(self, stacks: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Numbers of the places of stacks."""
        return self.place_numbers[self.rows(stacks)]

    @cached_property
    def _row(self) -> NDArray[np.int64]:
        """For each stack its row; an empty stack says as little as none, so both have the last row."""
        return np.array([number if self.stack(number) else self.count for number in range(self.count)], dtype=np.int64)

    def rows(self, stacks: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Stacks as indices into arrays with one entry a stack and a last one for none recorded."""
        found = np.full(len(stacks), self.count, dtype=np.int64)
        known = stacks != _core.NO_STACK
        found[known] = self._row[stacks[known]]
        return found

    def has_frames(self, stacks: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Per stack: whether a frame was recorded."""
        return np.less(self.rows(stacks), self.count)
