"""Reads a log in one pass over its bytes, in bounded memory.

Only a window around each telling word is decoded, so a log of any length, or with a line of any length, costs one
pass and a few MiB. The number of windows is bounded: of a log that is all failures, or tries to be costly, the first
thousands are read, and the words behind them are only counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from gapless.sources.log.scan import Collector, LogScan
from gapless.sources.log.window import Place, find_items, find_settings

CHUNK_BYTES = 1 << 20
BEFORE_BYTES, AFTER_BYTES, AFTER_BYTES_MAX = 1024, 2048, 8192  # of a telling word
OVERLAP_BYTES = 64  # of windows, so that what names a device is seen
WINDOWS_MAX, WINDOWS_MAX_FOREIGN = 1_000, 200  # of one telling word
EFFORT_MAX = 4_000  # windows and what was found in them, of all telling words
SETTINGS_MAX = 20_000  # places where settings are looked for
_SETTINGS = b"ALLOC_CONF"
# A search for each is much faster than one for all. Wrapped text can break one of the first three, never all.
_WORDS = (
    b"ut of memory",
    b"Tried to alloc",
    b"otal capac",
    b"_ALLOC_FAILED",
    b"ALLOCATION_FAILED",
    b"_STATUS_NOT_INITIALIZED",
    b"Failed to CUDA",
    b"memory summary, device",
    b"Allocation on device",
    _SETTINGS,
)
_FAILURES = _WORDS[:-1]
# These tell what else it seems to be. Some are printed at every step, so a few are enough.
_FOREIGN_WORDS = (
    b"RESOURCE_EXHAUSTED",
    b"esource exhausted",
    b"bfc_allocator",
    b"cache flushes",
    b"stored in KV cache",
    b"KV cache space",
    b"the cache blocks",
    b"RMM failure",
    b"Error in memory profiling",
)


def scan_log(stream: BinaryIO, *, progress: Callable[[int], None] | None = None) -> LogScan:
    """Scan a log from a binary stream, in bounded memory.

    Args:
        stream: The log in any superset of ASCII; it need not be seekable.
        progress: Called after each chunk with the bytes read so far.
    """
    return scan_chunks(iter(lambda: stream.read(CHUNK_BYTES), b""), progress=progress)


def scan_chunks(chunks: Iterable[bytes], *, progress: Callable[[int], None] | None = None) -> LogScan:
    """Scan a log that comes in pieces of any length."""
    scanner = _Scanner()
    for chunk in chunks:
        if chunk:
            scanner.feed(chunk)
            if progress:
                progress(scanner.end)
    scanner.feed(b"")
    return scanner.result()


class _Scanner:
    """The state of a scan: a buffer, what was found in it, and how far that reaches. Offsets are of the whole log."""

    def __init__(self) -> None:
        self.end = 0  # bytes read
        self._buffer = b""
        self._start = 0  # offset of the buffer
        self._searched = 0  # offset up to which telling words were looked for
        self._consumed = 0  # offset of the end of the last thing found
        self._empty_to = 0  # offset up to which a window held nothing, with room behind for what begins there
        self._line_at = (0, 1)  # an offset and its line
        self._windows: Counter[bytes] = Counter()  # read, by telling word
        self._effort = 0  # windows and what was found in them
        self._unread: Counter[bytes] = Counter()  # places that were only counted, by telling word
        self._collector = Collector()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; no bytes mean the end."""
        self._buffer += chunk
        self.end += len(chunk)
        limit = self.end if not chunk else self.end - AFTER_BYTES_MAX
        if limit > self._searched:
            for anchor, word in sorted(self._anchors(limit)):
                if word == _SETTINGS:
                    self._read_settings(anchor)
                elif anchor >= max(self._consumed, self._empty_to):
                    self._look_at(anchor, word)
            self._searched = limit
        keep = max(min(self._searched - BEFORE_BYTES, self.end), self._start)
        self._line(keep)
        self._buffer = self._buffer[keep - self._start :]
        self._start = keep

    def result(self) -> LogScan:
        """What was found."""
        lines = self._line(self.end) - (self._buffer[-1:] in (b"", b"\n"))
        return self._collector.result(lines=lines, size_bytes=self.end, unread=max(self._unread.values(), default=0))

    def _anchors(self, limit: int) -> Iterator[tuple[int, bytes]]:
        """Offsets of telling words, and the words, from `_searched` up to `limit`."""
        for word in (*_WORDS, *_FOREIGN_WORDS):
            begin, stop = self._searched - self._start, limit - self._start + len(word) - 1
            if self._is_spent(word):
                self._leave_out(word, self._buffer.count(word, begin, stop))
                continue
            at = self._buffer.find(word, begin, stop)
            while at >= 0:
                yield at + self._start, word
                at = self._buffer.find(word, at + len(word), stop)

    def _look_at(self, anchor: int, word: bytes) -> None:
        """Read what stands at a telling word, and what follows it whole in the same window."""
        if self._is_spent(word):
            self._leave_out(word, 1)
            return
        self._windows[word] += 1
        begin = max(anchor - BEFORE_BYTES, self._start, self._consumed - OVERLAP_BYTES)
        for after in (AFTER_BYTES, AFTER_BYTES_MAX):
            window = self._slice(begin, anchor + after)
            items = find_items(window)
            if not items or not items[-1][0].is_cut:
                break
        self._effort += 1 + len(items)
        if not items:
            self._empty_to = anchor + AFTER_BYTES - BEFORE_BYTES
        for place, item in items:
            start = begin + _length(window[: place.begin])
            if start >= self._consumed and (start <= anchor or not place.is_cut):
                before, text = self._slice(start - BEFORE_BYTES, start), window[place.begin : place.end]
                self._collector.add(item, before=before, text=text, line=self._line(start))
                self._consumed = begin + _length(window[: place.end])
        if word == _WORDS[0] and not any(_holds(window, begin, place, anchor) for place, _ in items):
            self._collector.note_not_understood(self._line(anchor))

    def _is_spent(self, word: bytes) -> bool:
        """Whether enough was read where this word stands."""
        if word == _SETTINGS:
            return self._windows[word] >= SETTINGS_MAX
        if word in _FOREIGN_WORDS:
            return self._windows[word] >= WINDOWS_MAX_FOREIGN
        return self._windows[word] >= WINDOWS_MAX or self._effort >= EFFORT_MAX

    def _leave_out(self, word: bytes, count: int) -> None:
        """Remember that so many places were only counted; of foreign words a few tell all."""
        if word in _FAILURES:
            self._unread[word] += count

    def _read_settings(self, anchor: int) -> None:
        if self._is_spent(_SETTINGS):
            return
        self._windows[_SETTINGS] += 1
        for text in find_settings(self._slice(anchor - 64, anchor + 512)):
            self._collector.add_settings(text)

    def _slice(self, begin: int, end: int) -> str:
        begin = max(begin, self._start)
        return self._buffer[begin - self._start : end - self._start].decode("utf-8", "surrogateescape")

    def _line(self, offset: int) -> int:
        """The 1-based line of an offset; lines end at a line feed."""
        known, line = self._line_at
        if offset < known:
            return line - self._buffer.count(b"\n", max(offset - self._start, 0), known - self._start)
        if offset > known:
            line += self._buffer.count(b"\n", known - self._start, offset - self._start)
            self._line_at = (offset, line)
        return line


def _holds(window: str, begin: int, place: Place, anchor: int) -> bool:
    """Whether a thing in a window, which begins at an offset, holds the byte at another."""
    return begin + _length(window[: place.begin]) <= anchor < begin + _length(window[: place.end])


def _length(text: str) -> int:
    """Bytes of text that was decoded from a log."""
    return len(text.encode("utf-8", "surrogateescape"))
