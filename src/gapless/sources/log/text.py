"""A log as people have it, made plain: windows of bytes in, text without spaces out.

Loggers put ranks, times and colours before a message, wrap it, escape it for JSON, or box it. All of that changes
where white space stands and what stands between lines, so messages are matched on *squeezed* text: colours, prefixes
of continued lines and every white space removed. `Squeezed` remembers where each piece came from.

    [rank3]: ...Tried to allocate 2.00\\n   ->   ...Triedtoallocate2.00GiB.GPU0
    [rank3]: GiB. GPU 0
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate

_ESC = r"(?:\x1b|\^\[|\\{1,4}(?:u001[bB]|x1[bB]|033|e))"
COLOUR = rf"{_ESC}\[[0-9;?]{{0,24}}[A-Za-z]"
CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
TIME = rf"(?:(?:\d{{2,4}}[-/.])?\d\d[-/.]\d\d[T ])?{CLOCK}"
# What may stand before a continued line. The message itself has no square brackets, no clock and no "pid=".
_CONTINUED = re.compile(
    rf"(?:[ \t]{{0,80}}(?:{COLOUR}|\[[^\[\]\n]{{1,60}}\](?:<[a-z]{{1,8}}>)?:?|\([^()\n]{{0,60}}pid=[^()\n]{{1,60}}\)"
    rf"|\d{{1,5}}: |[\w.-]{{1,60}}[ \t]{{0,9}}\| |{TIME}|(?:ERROR|WARNING|CRITICAL|INFO|stderr)\b:?"
    r"|\[?[\w./-]{1,60}:\d{1,6}\]|[>|\u2502\u2503])){1,6}"
)
_SPECIAL = re.compile(r"[\x00\x1b^\\\u00a0]")
_IN_LINE = re.compile(
    rf"(?P<dropped>{COLOUR}|[\s\u00a0]+|\\{{1,4}}t|\\{{1,4}}(?=[\"'/]))|(?P<raw>\^@|\\{{1,4}}(?:u00|x)0[0-8])"
)
_LINE_END = re.compile(r"(?:[\r\n]+|\\{1,4}r\\{1,4}n|\\{1,4}[nr](?![a-z]{3}))+")
_LINE_END_FIRST = re.compile(r"[\r\n\\]")
_BOX = " \t|\u2502\u2503"
COLOUR_OR_NUL = re.compile(rf"{COLOUR}|\x00")


@dataclass(frozen=True)
class Squeezed:
    """Text without white space, colours and the prefixes of continued lines, which knows where it came from."""

    text: str
    _starts: tuple[int, ...]  # of each line in `text`
    _lines: tuple[tuple[int, str], ...]  # each line with its place in the window
    _pieces: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = field(default_factory=dict)  # of lines asked for

    @staticmethod
    def of(window: str) -> Squeezed:
        """Squeeze a window of a log; time grows with its length only."""
        lines = tuple(_lines(window))
        texts = [_squeeze(line) for _, line in lines]
        starts = accumulate((len(text) for text in texts), initial=0)
        return Squeezed("".join(texts), tuple(starts)[:-1], lines)

    def source_of(self, position: int) -> int:
        """Where in the window the character at `position` of the text stood."""
        index = max(bisect_right(self._starts, position) - 1, 0)
        begin, line = self._lines[index]
        if index not in self._pieces:
            sources, texts = zip(*_kept(line), strict=True) if line.strip() else ((0,), ("",))
            self._pieces[index] = (tuple(accumulate((len(text) for text in texts), initial=0)), sources)
        starts, sources = self._pieces[index]
        left = position - self._starts[index]
        piece = min(bisect_right(starts, left), len(sources)) - 1
        return begin + sources[piece] + left - starts[piece]


def _lines(window: str) -> Iterator[tuple[int, str]]:
    """The lines of a window without their ends, boxes and prefixes, each with its place."""
    begin = at = 0
    while first := _LINE_END_FIRST.search(window, at):
        at = first.end()
        if end := _LINE_END.match(window, first.start()):
            yield begin, window[begin : end.start()].rstrip(_BOX)
            continued = _CONTINUED.match(window, end.end())
            begin = at = continued.end() if continued else end.end()
    yield begin, window[begin:]


def _squeeze(line: str) -> str:
    if _SPECIAL.search(line):
        return "".join(text for _, text in _kept(line))
    return "".join(line.split())


def _kept(line: str) -> Iterator[tuple[int, str]]:
    """The pieces of a line that stay, each with its place; a raw byte in any spelling becomes that byte."""
    at = 0
    for match in _IN_LINE.finditer(line):
        if match.start() > at:
            yield at, line[at : match.start()]
        if raw := match["raw"]:
            yield match.start(), chr(int(raw[-1])) if raw[-1].isdigit() else "\x00"
        at = match.end()
    if at < len(line):
        yield at, line[at:]
