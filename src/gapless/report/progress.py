"""How far a long step has come, on one line of a terminal; silent for what ends within two seconds, and in pipes."""

from __future__ import annotations

import time
from typing import TextIO

_SILENT_S, _PERIOD_S = 2.0, 0.1
_BAR_CHARS = 24


class ProgressLine:
    """Called with a step in words and how much of it is done; `close` takes the line away."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shows = stream.isatty()
        self._begun_s = self._last_s = self._called_s = self._step_begun_s = time.monotonic()
        self._step = ""
        self._width = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, step: str, done: int, total: int) -> None:
        """`done` of `total` parts of the step."""
        now = time.monotonic()
        if step != self._step:
            self._step, self._step_begun_s = step, self._called_s
        self._called_s = now
        if not self._shows or now - self._begun_s < _SILENT_S or now - self._last_s < _PERIOD_S:
            return
        self._last_s = now
        self._write(progress_line(step, done, total, now - self._step_begun_s))

    def close(self) -> None:
        """Leaves the terminal as it was."""
        if self._width:
            self._write("")
            self._stream.write("\r")
            self._width = 0

    def _write(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)


def progress_line(step: str, done: int, total: int, seconds: float) -> str:
    """A bar, the count, and the time that is left.

    >>> progress_line("replaying", 8, 32, 3.0)
    'replaying [######..................] 8 of 32, about 9 s left'
    """
    if total <= 0:
        return f"{step} ..."
    filled = _BAR_CHARS * min(done, total) // total
    left = f", about {max(seconds * (total - done) / done, 0):.0f} s left" if done else ""
    return f"{step} [{'#' * filled}{'.' * (_BAR_CHARS - filled)}] {done} of {total}{left}"
