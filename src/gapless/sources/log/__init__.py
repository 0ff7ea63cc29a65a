"""Reads what a log says about running out of memory: PyTorch's messages in all their wordings, and what stands beside.

file -> stream -> window -> oom_reading, failures, memory_summary -> scan
"""

from __future__ import annotations

from gapless.sources.log.amount import Amount
from gapless.sources.log.failures import ForeignFailure, LibraryFailure
from gapless.sources.log.file import is_log, read_log
from gapless.sources.log.memory_summary import MemorySummary
from gapless.sources.log.oom_message import OomMessage
from gapless.sources.log.origin import Origin
from gapless.sources.log.scan import LogScan
from gapless.sources.log.stream import scan_log

__all__ = [
    "Amount",
    "ForeignFailure",
    "LibraryFailure",
    "LogScan",
    "MemorySummary",
    "OomMessage",
    "Origin",
    "is_log",
    "read_log",
    "scan_log",
]
