"""What stands in one window of a log: messages, failures of libraries and others, memory tables, settings strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from gapless.sources.log.failures import ForeignFailure, LibraryFailure, find_failures
from gapless.sources.log.memory_summary import MemorySummary, find_summaries
from gapless.sources.log.oom_message import OomMessage
from gapless.sources.log.oom_reading import find_messages
from gapless.sources.log.text import Squeezed

Item: TypeAlias = OomMessage | LibraryFailure | ForeignFailure | MemorySummary
_SETTINGS = re.compile(
    r"(?P<hint>try\s{1,9}setting\s{1,9})?PYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF[\"'\\]{0,4}[\]),]{0,2}\s{0,3}[=:]\s{0,3}[\"'\\]{0,4}"
    r"(?P<text>[a-z][a-z_0-9]{2,60}\s{0,3}:[^\s\"'`;\\]{1,400})"
)


@dataclass(frozen=True)
class Place:
    """Where a thing stands in a window: [begin, end), and whether the window may have cut it."""

    begin: int
    end: int
    is_cut: bool


def find_items(window: str) -> list[tuple[Place, Item]]:
    """Everything in a window, in order; what lies inside a message or a table is part of it."""
    squeezed = Squeezed.of(window)
    found: list[tuple[int, int, Item]] = [*find_messages(squeezed), *find_summaries(squeezed)]
    whole = [(begin, end) for begin, end, _ in found]
    for begin, end, failure in find_failures(squeezed):
        if not any(first < end and begin < last for first, last in whole):
            found.append((begin, end, failure))
    found.sort(key=lambda item: item[:2])
    margin = len(squeezed.text) - 64
    return [
        (Place(squeezed.source_of(begin), squeezed.source_of(end - 1) + 1, end > margin), item)
        for begin, end, item in found
    ]


def find_settings(text: str) -> Iterator[str]:
    """Settings strings of the allocator that the text shows in use; the message's own hint is not one."""
    for match in _SETTINGS.finditer(text):
        if not match["hint"]:
            yield match["text"].rstrip(".,)]}")
