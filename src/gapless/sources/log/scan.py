"""What a log holds about running out of memory, collected while it is read.

Equal messages of one process are one with `repeats`. What is kept is bounded; `LogScan.is_complete` says whether a
bound was met.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from gapless.sources.log.failures import ForeignFailure, LibraryFailure
from gapless.sources.log.memory_summary import MemorySummary
from gapless.sources.log.oom_message import TEXT_MAX, OomMessage
from gapless.sources.log.origin import Origin
from gapless.sources.log.quotation import is_quotation
from gapless.sources.log.text import COLOUR_OR_NUL
from gapless.sources.log.window import Item
from gapless.sources.log.wordings import narrowed

KEPT_MAX = 1_000  # of each kind
SEEN_MAX = 20_000  # repeats included: the first failures decide, later ones are not even counted


@dataclass(frozen=True)
class LogScan:
    """What a log holds, in order of its lines; equal messages of one process are one with `repeats`."""

    messages: tuple[OomMessage, ...] = ()
    libraries: tuple[LibraryFailure, ...] = ()
    foreign: tuple[ForeignFailure, ...] = ()
    summaries: tuple[MemorySummary, ...] = ()
    settings: tuple[str, ...] = ()  # strings of PYTORCH_CUDA_ALLOC_CONF that the log shows in use
    lines: int = 0
    bytes: int = 0
    is_complete: bool = True
    unread: int = 0  # places with words of a failure, behind the first thousands, that were only counted
    not_understood: int | None = None  # the first line that speaks of running out of memory in words that are not known


class Collector:
    """Takes things in the order of the log."""

    def __init__(self) -> None:
        self.is_complete = True
        self._found: dict[type, dict[Any, Any]] = {}
        self._settings: dict[str, None] = {}
        self._seen = 0
        self._not_understood: int | None = None

    def result(self, *, lines: int, size_bytes: int, unread: int = 0) -> LogScan:
        """What was collected, and how many places were not looked at."""
        kept = {kind: tuple(found.values()) for kind, found in self._found.items()}
        return LogScan(
            messages=kept.get(OomMessage, ()),
            libraries=kept.get(LibraryFailure, ()),
            foreign=kept.get(ForeignFailure, ()),
            summaries=kept.get(MemorySummary, ()),
            settings=tuple(self._settings),
            lines=lines,
            bytes=size_bytes,
            is_complete=self.is_complete and not unread,
            unread=unread,
            not_understood=self._not_understood,
        )

    def note_not_understood(self, line: int) -> None:
        """Remember the first line that speaks of a failure and is none that is known."""
        if self._not_understood is None:
            self._not_understood = line

    def add_settings(self, text: str) -> None:
        """Remember a settings string of the allocator."""
        if len(self._settings) < KEPT_MAX:
            self._settings.setdefault(text)

    def add(self, item: Item, *, before: str, text: str, line: int) -> None:
        """Remember a thing, or count it once more.

        Args:
            item: The thing.
            before: What stands before it, some lines.
            text: Its own text.
            line: Its 1-based line.
        """
        self._seen += 1
        if self._seen > SEEN_MAX:
            self.is_complete = False
            return
        origin = Origin.of(re.split(r"[\r\n]", before)[-1])
        if isinstance(item, MemorySummary):
            self._add_summary(replace(item, line=line, origin=origin))
            return
        is_whole = isinstance(item, OomMessage) and item.is_whole
        item = replace(item, is_quoted=is_quotation(before, is_whole=is_whole))
        if isinstance(item, OomMessage):
            item = replace(item, releases=narrowed(item.releases, origin.exception))
        known = self._found.setdefault(type(item), {})
        key = (origin.rank, origin.process, origin.pid, item)
        if key in known:
            known[key] = replace(known[key], repeats=known[key].repeats + 1)
        elif len(known) < KEPT_MAX:
            known[key] = replace(item, line=line, origin=origin, text=_plain(text))
        else:
            self.is_complete = False

    def _add_summary(self, summary: MemorySummary) -> None:
        """Of each process and device the last table before the first failure and the first one after it matter."""
        failed = any(not item.is_quoted for kind in (OomMessage, LibraryFailure) for item in self._of(kind))
        known = self._found.setdefault(MemorySummary, {})
        key = (summary.origin.rank, summary.origin.process, summary.device, failed)
        if key in known and failed:
            return
        if key in known or len(known) < KEPT_MAX:
            known[key] = summary

    def _of(self, kind: type) -> Iterable[Any]:
        return self._found.get(kind, {}).values()


def _plain(text: str) -> str:
    """Text of a log for people: one line, no colours, no broken characters."""
    text = COLOUR_OR_NUL.sub("", text[: 4 * TEXT_MAX]).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return " ".join(text.split())[:TEXT_MAX]
