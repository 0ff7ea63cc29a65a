"""What a log says about a failure, as data: the verdict, its numbers, and every message of every rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gapless.explain.finding import Finding, Verdict
from gapless.explain.log.advice import RECORD, RECORDING
from gapless.explain.log.full import size, value
from gapless.explain.log.numbers import Numbers
from gapless.explain.words import plural
from gapless.sources.log.oom_message import OomMessage
from gapless.sources.log.scan import LogScan

SCHEMA = "gapless.explain/1"
_STATE = (
    *(
        "event",
        "limit_bytes",
        "limit_bytes_most",
        "capacity_bytes",
        "device_free_bytes",
        "requested_bytes",
        "rounded_bytes",
    ),
    *("segment_bytes", "allocated_bytes", "active_bytes", "reserved_bytes", "free_bytes"),
    *("largest_free_block_bytes", "pending_bytes", "private_pool_free_bytes"),
)
ROWS_MAX = 100
"""Messages in the table; it says how many more there are."""
_COLUMNS = ("rank", "device", "line", "asked", "free", "allocated", "unallocated", "allowed", "verdict", "times")


@dataclass(frozen=True)
class Row:
    """One message in the table of all."""

    message: OomMessage
    code: str


@dataclass(frozen=True)
class LogExplanation:
    """The verdict of a log, and what it rests on."""

    scan: LogScan
    verdict: Verdict
    findings: tuple[Finding, ...]
    """Worst first; the verdict's own is the first."""
    numbers: Numbers | None = None
    """Of the message that decides; None when none does."""
    rows: tuple[Row, ...] = ()
    """Every message, in order."""
    path: str = ""

    @property
    def measurements(self) -> dict[str, Any]:
        """The numbers of the verdict by name."""
        return dict(self.findings[0].measurements)

    @property
    def recording(self) -> str:
        """A line to put before the model is built, to record what the log cannot show; empty when nothing is open."""
        return RECORDING if RECORD in self.verdict.what_to_do else ""

    def to_json(self) -> dict[str, Any]:
        """As gapless.explain/1; what a log cannot tell is null or empty."""
        message = self.numbers.message if self.numbers else None
        settings = self.scan.settings[-1] if self.scan.settings else None
        return {
            "schema": SCHEMA,
            "input": {
                "path": self.path,
                "kind": "log",
                "torch": {"candidates": list(message.releases) if message else [], "matched": None},
                "device": message.device if message else None,
                "events": None,
                "settings": {"text": settings, "values": {}},
            },
            "state": _state(self.numbers),
            "replay": None,
            "verdict": self.verdict.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "holders": [],
            "pins": [],
            "growth": [],
            "lower_bound_bytes": None,
            "fixes": [],
        }

    def lines(self) -> list[str]:
        """The answer in plain lines: the verdict, the evidence, the table of ranks, and how to record the rest."""
        verdict = self.verdict
        found = [f"{verdict.code} {verdict.name} ({verdict.confidence})", f"  What  {verdict.message}"]
        found += [f"  {name:<4}  {text}" for name, text in (("Why", verdict.why), ("Do", verdict.what_to_do)) if text]
        if self.numbers:
            message = self.numbers.message
            found += ["", f"{where(message).capitalize()}: {message.text}"]
        found += [f"{one.code} ({one.severity}): {one.message} {one.why}" for one in self.findings[1:]]
        if len(self.rows) > 1:
            found += ["", *self.table()]
        if self.recording:
            found += ["", self.recording]
        if self.left_out:
            found += ["", self.left_out]
        return found

    @property
    def left_out(self) -> str:
        """A sentence about what was not read or kept; empty when all was."""
        if self.scan.is_complete:
            return ""
        mentions = f"at least {plural(self.scan.unread, 'later mention')} of a failure"
        counted = f" (only counted: {mentions})" if self.scan.unread else ""
        return f"The log holds more than was read or kept{counted}; the first failures are all here."

    def table(self) -> list[str]:
        """The messages as lines of columns, of very many the first and how many more; empty when there is but one."""
        if len(self.rows) < 2:
            return []
        more = len(self.rows) - ROWS_MAX
        return [*_table(self.rows[:ROWS_MAX]), *([f"... and {plural(more, 'more message')}"] if more > 0 else [])]


def where(message: OomMessage) -> str:
    """Where in the log a message stands, and which rank's it is."""
    rank = message.origin.rank
    return f"line {message.line}" if rank is None else f"line {message.line}, rank {rank}"


def _state(numbers: Numbers | None) -> dict[str, Any] | None:
    """The allocator's state as far as a message prints it."""
    if numbers is None:
        return None
    message, unallocated = numbers.message, numbers.unallocated
    known = {
        "limit_bytes": value(message.allowed),
        "limit_bytes_most": value(message.allowed),
        "capacity_bytes": value(numbers.limit),
        "device_free_bytes": value(numbers.free),
        "segment_bytes": value(numbers.request),
        "allocated_bytes": value(numbers.in_use),
        "reserved_bytes": value(numbers.reserved),
        "free_bytes": None if unallocated is None else (unallocated + numbers.private_free).value,
        "private_pool_free_bytes": value(message.private_pools),
    }
    return {"at": "oom", **{name: known.get(name) for name in _STATE}}


def _table(rows: tuple[Row, ...]) -> list[str]:
    """Messages as columns of text."""
    cells = [_COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_COLUMNS))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells]


def _cells(row: Row) -> tuple[str, ...]:
    message, numbers = row.message, Numbers(row.message)
    amounts = (numbers.request, numbers.free, numbers.in_use, numbers.unallocated, message.allowed)
    return (
        "-" if message.origin.rank is None else str(message.origin.rank),
        "-" if message.device is None else str(message.device),
        str(message.line),
        *("-" if amount is None else size(amount) for amount in amounts),
        row.code,
        str(message.repeats),
    )
