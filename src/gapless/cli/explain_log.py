"""The part of `gapless explain` for logs, from a file or from stdin."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import sys
from typing import TYPE_CHECKING, cast

from gapless.cli.failures import say
from gapless.errors import FormatError, InputError
from gapless.explain.log import LogExplanation, explain_log
from gapless.report.log import paths_in, to_markdown, to_text
from gapless.report.progress import ProgressLine
from gapless.report.redact import Redactor
from gapless.report.terminal import Terminal
from gapless.sources.content import HEAD_BYTES
from gapless.sources.guess import guess
from gapless.sources.log import LogScan, read_log
from gapless.sources.log.file import ascii_superset
from gapless.sources.log.stream import scan_chunks
from gapless.sources.sniff import is_log, is_snapshot
from gapless.units import MIB

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import BufferedReader

    from gapless.explain.finding import Finding

_STDIN = "-"
_CHUNK_BYTES = 1 << 20


def explain_log_file(args: argparse.Namespace) -> tuple[Finding, ...]:
    """Prints what a log proves; its findings."""
    for option in ("card", "recorded_card", "at", "device", "torch", "recorded_conf", "leave_free", "log"):
        if getattr(args, option) is not None:
            raise InputError(
                "a log has no events to look at or to replay",
                hint="leave it out, or give a snapshot",
                where="--conf" if option == "recorded_conf" else f"--{option.replace('_', '-')}",
            )
    with ProgressLine(sys.stderr) as progress:
        size = 0 if args.file == _STDIN else os.stat(args.file).st_size
        scan = _scan(args.file, lambda done: progress("reading MiB", done // MIB, max(done, size) // MIB))
    explanation = explain_log(scan, path="stdin" if args.file == _STDIN else args.file)
    _print(explanation, args.format, args.redact)
    return explanation.findings


def _scan(path: str, progress: Callable[[int], None]) -> LogScan:
    if path != _STDIN:
        return read_log(path, progress=progress)
    if sys.stdin is None:
        raise InputError("standard input is closed", hint="give the log as a file")
    stdin = cast("BufferedReader", sys.stdin.buffer)
    if sys.stdin.isatty():
        say("gapless: reading a log from the keyboard; Ctrl-D ends it")
    head = stdin.read(HEAD_BYTES)
    if is_snapshot(head):
        raise FormatError("stdin is a snapshot; only logs are read from there", hint="give the snapshot as a file")
    if not is_log(head):
        raise FormatError(
            f"stdin is {guess(head)[0]}, not a log", hint="give text, as with: zcat run.log.gz | gapless explain -"
        )
    rest = iter(lambda: stdin.read1(_CHUNK_BYTES), b"")
    return scan_chunks(ascii_superset(itertools.chain([head], rest)), progress=progress)


def _print(explanation: LogExplanation, form: str, redact: bool) -> None:
    redactor = Redactor([*paths_in(explanation), explanation.path]) if redact else None
    if form == "json":
        value = explanation.to_json()
        print(json.dumps(redactor.json(value) if redactor else value))
        return
    terminal = Terminal(sys.stdout, redactor)
    to_markdown(explanation, terminal) if form == "markdown" else to_text(explanation, terminal)
