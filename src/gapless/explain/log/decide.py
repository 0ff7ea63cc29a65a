"""From a scan to a verdict: which failure decides, and which cause its numbers prove.

The first failure in time decides: what other ranks and later attempts print is its consequence. Times are compared
where every candidate carries one; else the order of lines is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from gapless.explain.finding import Finding
from gapless.explain.log import full, pieces, rare
from gapless.explain.log.advice import RECORD, Surroundings
from gapless.explain.log.codes import finding
from gapless.explain.log.contradictions import with_doubt
from gapless.explain.log.explanation import LogExplanation, Row
from gapless.explain.log.library import explain_library
from gapless.explain.log.numbers import Numbers
from gapless.explain.verdict import verdict_of
from gapless.explain.words import plural
from gapless.sources.log.failures import WITHOUT_NUMBERS, ForeignFailure, LibraryFailure
from gapless.sources.log.memory_summary import MemorySummary
from gapless.sources.log.oom_message import OomMessage
from gapless.sources.log.scan import LogScan

Cause = Callable[[Numbers, Surroundings], Finding | None]
CAUSES: tuple[Cause, ...] = (
    rare.too_large,
    rare.preemptive,
    rare.cuda_malloc_async,
    full.larger_than_card,
    full.by_limit,
    full.outside,
    pieces.private_pool,
    full.capacity,
    pieces.card_had_room,
    pieces.pieces,
    pieces.unreadable,
)
"""In this order; the first that speaks of an error decides, warnings before it stay."""
_FIELDS = ("request", "capacity", "free", "allocated", "unallocated", "allowed", "this_process")
_SAME = ("device", *_FIELDS, "processes", "private_pools", "reserved")
_MOST_BESIDE = 20
"""Failures besides the one that decides of which the cause is told."""
_DATE = re.compile(r"\d{4}[-/.]\d\d[-/.]\d\d[T ]")


def explain_log(scan: LogScan, *, path: str = "") -> LogExplanation:
    """Explains what a log shows.

    Args:
        scan: The log.
        path: Its file, for the report.
    """
    messages = merged([message for message in scan.messages if not message.is_quoted])
    libraries = [failure for failure in scan.libraries if not failure.is_quoted and failure.is_memory]
    first = first_failure([*messages, *libraries])
    rows = tuple(Row(message, _deciding(message, scan)[0].code) for message in messages)
    if isinstance(first, OomMessage):
        chosen = _fullest(first, messages)
        findings = (*_deciding(chosen, scan), *_beside(explain_library(one, scan) for one in _of_each(libraries)))
        numbers = _numbers(chosen, scan)
        return LogExplanation(scan, verdict_of(findings[0]), findings, numbers, rows, path)
    if first is None:
        first = next((failure for failure in scan.libraries if not failure.is_quoted), None)
    found = explain_library(first, scan) if isinstance(first, LibraryFailure) else _nothing(scan)
    others = _beside(_deciding(message, scan)[0] for message in messages[:_MOST_BESIDE])
    return LogExplanation(scan, verdict_of(found), (found, *others), None, rows, path)


def _of_each(failures: Iterable[LibraryFailure]) -> list[LibraryFailure]:
    """The first failure of each library on each rank."""
    found: dict[object, LibraryFailure] = {}
    for failure in failures:
        found.setdefault((failure.library, failure.origin.rank), failure)
    return list(found.values())[:_MOST_BESIDE]


def _beside(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What else failed, which does not decide."""
    return tuple(replace(one, severity="warning") if one.severity == "error" else one for one in findings)


def merged(messages: Iterable[OomMessage]) -> list[OomMessage]:
    """Messages in order, those of no rank joined with the one of a rank that has the same numbers.

    Programs print an exception themselves, without a rank, before the launcher prints its traceback.
    """
    found: list[OomMessage] = []
    for message in messages:
        numbers = [getattr(message, name) for name in _SAME]
        for index, other in enumerate(found):
            ranks = {message.origin.rank, other.origin.rank}
            if None in ranks and numbers == [getattr(other, name) for name in _SAME]:
                rank = next((rank for rank in ranks if rank is not None), None)
                origin = replace(other.origin, rank=rank, exception=other.origin.exception or message.origin.exception)
                releases = tuple(release for release in other.releases if release in message.releases)
                found[index] = replace(
                    other,
                    origin=origin,
                    releases=releases or other.releases,
                    repeats=other.repeats + message.repeats,
                )
                break
        else:
            found.append(message)
    return found


def _deciding(message: OomMessage, scan: LogScan) -> tuple[Finding, ...]:
    """The findings about one message, the decisive one first."""
    numbers, surroundings = _numbers(message, scan), Surroundings.of(message, scan.settings)
    milder: list[Finding] = []
    for cause in CAUSES:
        found = cause(numbers, surroundings)
        if found is not None and found.severity == "error":
            aside = full.aside(numbers) if found.code != "OUT501" else None
            doubted = [with_doubt(one, numbers) for one in (found, *milder)]
            return (*doubted, *([aside] if aside else []))
        milder += [found] if found else []
    raise AssertionError("the last cause always speaks")


def _numbers(message: OomMessage, scan: LogScan) -> Numbers:
    return Numbers(message, Surroundings.of(message, scan.settings).rounds_up)


def first_failure(failures: list[OomMessage | LibraryFailure]) -> OomMessage | LibraryFailure | None:
    """The first failure in time."""
    times = [failure.origin.time or "" for failure in failures]
    if all(_DATE.match(time) for time in times):
        return min(failures, key=lambda failure: (_comparable(failure.origin.time or ""), failure.line), default=None)
    return min(failures, key=lambda failure: failure.line, default=None)


def _comparable(time: str) -> str:
    return time.replace("T", " ").replace(",", ".").replace("/", "-")


def _fullest(first: OomMessage, messages: list[OomMessage]) -> OomMessage:
    """The same failure where it is printed whole: loggers often cut it first and print the traceback after."""

    def same(message: OomMessage) -> bool:
        return message.request == first.request and message.origin.rank == first.origin.rank

    def known(message: OomMessage) -> int:
        return sum(getattr(message, name) is not None for name in _FIELDS)

    return max(filter(same, messages), key=lambda message: (known(message), -message.line))


def _nothing(scan: LogScan) -> Finding:
    """A log without a failure that can be read."""
    foreign = [failure for failure in scan.foreign if not failure.is_quoted]
    if foreign:
        first = foreign[0]
        if first.family == WITHOUT_NUMBERS:
            return _without_numbers(first)
        return finding(
            "REC791",
            f"Line {first.line} is not a PyTorch out-of-memory message: it seems to come from {first.family}.",
            why="Only the messages of PyTorch for CUDA and ROCm, and of the libraries beside it, are read here.",
            what_to_do="If PyTorch failed as well, give the log of the process that died.",
            confidence="unsure",
        )
    counted = next((summary for summary in scan.summaries if summary.ooms), None)
    if counted is not None:
        return _only_counted(counted)
    if scan.not_understood is not None:
        return finding(
            "REC790",
            f"Line {scan.not_understood} speaks of running out of memory, in words that are not understood here.",
            why="It is neither a message of PyTorch for CUDA or ROCm nor one of a library beside it that is known.",
            what_to_do=f"Read that line: it says what failed. If PyTorch did, give the log with its message. {RECORD}",
            confidence="unsure",
        )
    quoted = [thing.line for things in (scan.messages, scan.libraries, scan.foreign) for thing in things]
    why = f"Line {min(quoted)} only quotes one, as source code, comments and advice do." if quoted else ""
    return finding(
        "OK000",
        f"No out-of-memory message stands in this log of {plural(scan.lines, 'line')}.",
        severity="info",
        why=why,
        what_to_do="If a process died, look into the log of that rank, and into dmesg for the host's memory.",
        confidence="unsure",
    )


def _without_numbers(failure: ForeignFailure) -> Finding:
    return finding(
        "REC790",
        f"PyTorch ran out of memory (line {failure.line}), and its message stands here without its numbers.",
        why="The program that printed it left them out; without them nothing can be told.",
        what_to_do=f"Give the log with the whole message. {RECORD}",
        confidence="unsure",
    )


def _only_counted(summary: MemorySummary) -> Finding:
    """A memory table says that something failed, and no message says what."""
    amounts = {
        "allocated_bytes": summary.allocated,
        "reserved_bytes": summary.reserved,
        "reserved_bytes_peak": summary.reserved_peak,
    }
    known = {name: amount.value for name, amount in amounts.items() if amount is not None}
    return finding(
        "REC790",
        f"The memory table in line {summary.line} counts {plural(summary.ooms or 0, 'out-of-memory error')} on device"
        f" {summary.device}, and this log does not hold the message.",
        why="The table shows the state when it was printed, mostly after the exception had unwound.",
        what_to_do=f"Give the log with the message. {RECORD}",
        measurements={"ooms": summary.ooms, **known},
        confidence="unsure",
    )
