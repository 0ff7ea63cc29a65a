"""Plain words on a terminal: colour where it is wanted, lines no longer than the window."""

from __future__ import annotations

import os
import shutil
import textwrap
from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "error": "1;31", "warning": "1;33", "info": "1;36"}
_WIDEST = 110


class Terminal:
    """Writes to a stream; in colour only on a terminal, and not where NO_COLOR is set."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._colour = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)

    def paint(self, text: str, style: str) -> str:
        """The text in a style: bold, dim, error, warning or info."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._colour else text

    def line(self, text: str = "") -> None:
        """One line as it is."""
        print(text, file=self._stream)

    def paragraph(self, text: str, indent: int) -> None:
        """Text broken at blanks, indented."""
        for line in textwrap.wrap(text, max(self.width - indent, 30), break_on_hyphens=False):
            self.line(" " * indent + line)
