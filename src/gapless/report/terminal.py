"""Plain words on a terminal: colour where it is wanted, lines no longer than the window."""

from __future__ import annotations

import os
import re
import shutil
import textwrap
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from gapless.explain.finding import Frame
    from gapless.report.redact import Redactor

_CODES = {"bold": "1", "dim": "2", "error": "1;31", "warning": "1;33", "info": "1;36"}
_PAINT = re.compile(r"(\x1b\[(?:0|" + "|".join(_CODES.values()) + ")m)")
_WIDEST = 110


def printable(text: str) -> str:
    r"""Text of strangers, as the names of files, without what could steer a terminal.

    >>> printable("a\x1b[31m")
    'a\\x1b[31m'
    """
    text = text.replace("\t", " ")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class Terminal:
    """Writes to a stream; in colour only on a terminal, and not where NO_COLOR is set.

    Whatever is written, no control character reaches the stream but for line ends and the colours of `paint`.
    """

    def __init__(self, stream: TextIO, redactor: Redactor | None = None) -> None:
        """`redactor` leaves the paths out of each text before it is broken into lines, and of each frame."""
        self._stream = stream
        self._redactor = redactor
        self._colour = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)

    def paint(self, text: str, style: str) -> str:
        """The text in a style: bold, dim, error, warning or info."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self._colour else text

    def _edit(self, text: str) -> str:
        return self._redactor.text(text) if self._redactor else text

    def frame(self, frame: Frame | None) -> Frame | None:
        """A frame as it may be shown."""
        return self._redactor.frame(frame) if self._redactor and frame else frame

    def edited(self, text: str) -> str:
        """The text as it will stand there, for columns that have to be as wide."""
        return printable(self._edit(text))

    def line(self, text: str = "") -> None:
        """One line as it is, or several."""
        for line in self._edit(text).split("\n"):
            print(self._harmless(line), file=self._stream)

    def _harmless(self, line: str) -> str:
        if line.isprintable():
            return line
        parts = _PAINT.split(line) if self._colour else [line]  # every second part is a colour
        return "".join(part if number % 2 else printable(part) for number, part in enumerate(parts))

    @property
    def draws(self) -> bool:
        """Whether characters beyond ASCII can be shown."""
        return self._colour and "utf" in (self._stream.encoding or "").lower()

    @property
    def bar_mark(self) -> str:
        """The character of a bar."""
        return "█" if self.draws else "#"

    def wrap(self, text: str, indent: int) -> list[str]:
        """Text broken at blanks into lines that leave room for an indent."""
        return textwrap.wrap(self._edit(text), max(self.width - indent, 30), break_on_hyphens=False)

    def paragraph(self, text: str, indent: int) -> None:
        """Text broken at blanks, indented."""
        for line in self.wrap(text, indent):
            self.line(" " * indent + line)

    def clipped(self, text: str) -> None:
        """One line, cut where the window ends; whole where there is no window."""
        text = self.edited(text)
        fits = len(text) <= self.width or not self._stream.isatty()
        self.line(text if fits else text[: self.width - 3] + "...")
