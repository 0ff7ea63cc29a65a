"""The part of `gapless explain` for snapshots: each device explained, fixes replayed, the answer printed."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from gapless.cli.common import open_options, recordings_of
from gapless.cli.explain_known import Answer, known_of, log_of
from gapless.cli.failures import say
from gapless.cli.redacting import redactor_of
from gapless.explain import explain_all
from gapless.recording.choosing import rest_of
from gapless.recording.settings import contradicted
from gapless.report.devices import devices_to_json, rest_to_text
from gapless.report.progress import ProgressLine
from gapless.report.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.explain import Explanation
    from gapless.explain.finding import Finding
    from gapless.recording import Recording
    from gapless.recording.choosing import Rest
    from gapless.report.redact import Redactor
    from gapless.sources.log import LogScan


def explain_snapshot(args: argparse.Namespace) -> list[Finding]:
    """Prints the answer about each device; the findings of all."""
    answers = _answers(args)
    rest = rest_of([one.recording for one, _ in answers], args.device)
    redactor = redactor_of([one.recording for one, _ in answers]) if args.redact else None
    if args.format == "json":
        _print_json(answers, rest, redactor)
    else:
        _print_text(answers, rest, args.format, redactor)
    return [finding for one, _ in answers for finding in one.findings]


def _answers(args: argparse.Namespace) -> list[Answer]:
    log = log_of(args)
    known = known_of(args, log)
    with ProgressLine(sys.stderr) as progress:
        recordings = recordings_of(args.file, open_options(args, progress))
        if args.recorded_conf is not None:
            progress.close()
            _note_contradicted_settings(recordings[0])
        explained = explain_all(recordings, known.options)
        known.check(explained)
        progress.close()
        _note_what_is_not_recorded(log, explained)
        return [(one, []) if args.no_fixes else known.answer(one, progress) for one in explained]


def _print_json(answers: Sequence[Answer], rest: Rest, redactor: Redactor | None) -> None:
    devices: list[dict[str, Any]] = []
    for one, fixes in answers:
        value = {**one.to_json(), "fixes": [fix.to_json() for fix in fixes]}
        devices.append(redactor.json(value) if redactor else value)
    print(json.dumps(devices_to_json("gapless.explain.devices/1", devices, rest)))


def _print_text(answers: Sequence[Answer], rest: Rest, form: str, redactor: Redactor | None) -> None:
    from gapless.report.explanation import to_text  # noqa: PLC0415  (JSON needs neither)
    from gapless.report.markdown import to_markdown  # noqa: PLC0415

    terminal = Terminal(sys.stdout, redactor)
    for number, (one, fixes) in enumerate(answers):
        if number:
            terminal.line()
        if len(answers) > 1:
            terminal.line(f"Device {one.recording.device}")
        to_markdown(one, fixes, terminal) if form == "markdown" else to_text(one, fixes, terminal)
    rest_to_text(rest, terminal)


def _note_contradicted_settings(recording: Recording) -> None:
    """Says on stderr, before all else, where --conf contradicts the file: mostly it was meant as a question."""
    names = contradicted(recording.snapshot, recording.release, recording.settings)
    if names:
        say(
            f"gapless: --conf contradicts the file, in which {' and '.join(names)} had another value. The answer takes"
            " --conf for what was in force; leave it out to go by the file"
        )
        say(
            "  would other settings help? gapless replay FILE --conf TEXT tries these, gapless tune FILE finds the best"
        )


def _note_what_is_not_recorded(scan: LogScan | None, explained: list[Explanation]) -> None:
    """Says on stderr that a log tells of a failure of PyTorch which no device of the recording shows."""
    if scan is None or any(len(one.recording.oom_events) for one in explained):
        return
    message = next((message for message in scan.messages if not message.is_quoted), None)
    if message is not None:
        say(
            f"gapless: line {message.line} of the log says that PyTorch ran out of memory; this recording shows no such"
            " failure: it was written before, or is another rank's"
        )
