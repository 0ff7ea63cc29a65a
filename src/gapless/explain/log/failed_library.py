"""Whether a log tells that a library beside PyTorch failed first, and what else it knows about the card."""

from __future__ import annotations

from dataclasses import dataclass

from gapless.explain.log.decide import first_failure
from gapless.explain.log.library import request_bytes
from gapless.sources.log.failures import LibraryFailure
from gapless.sources.log.scan import LogScan


@dataclass(frozen=True)
class FailedLibrary:
    """A library that did not get memory."""

    name: str
    """As the beginning of a sentence."""
    request_bytes: int | None
    is_sure: bool
    """Whether its error says that memory was the cause."""
    line: int
    """Of the log, 1-based."""
    rank: int | None
    """That its line names."""


def failed_library(scan: LogScan, rank: int | None = None) -> FailedLibrary | None:
    """The library whose failure came before PyTorch's own; None when PyTorch failed first, or no library did.

    Args:
        scan: The log.
        rank: Only lines of this rank, and lines that name none.
    """
    ranks = {None, rank}
    messages = [one for one in scan.messages if not one.is_quoted and (rank is None or one.origin.rank in ranks)]
    libraries = [one for one in scan.libraries if not one.is_quoted and (rank is None or one.origin.rank in ranks)]
    first = first_failure([*messages, *(one for one in libraries if one.is_memory)])
    if first is None:
        first = next(iter(libraries), None)
    if not isinstance(first, LibraryFailure):
        return None
    name = first.library.replace("the ", "The ", 1)
    return FailedLibrary(name, request_bytes(first, scan), first.is_memory, first.line, first.origin.rank)


def card_total_bytes(scan: LogScan) -> int | None:
    """The size of the card that PyTorch's own messages name, if all name the same."""
    named = {one.capacity.value for one in scan.messages if not one.is_quoted and one.capacity is not None}
    return named.pop() if len(named) == 1 else None
