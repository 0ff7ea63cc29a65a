"""`gapless explain`: why a recorded run failed, what holds its memory, and which fix works."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from gapless.cli.common import add_fail_on, add_recording_options, check_fail_on, fails, open_options

if TYPE_CHECKING:
    from gapless.cards import Card
    from gapless.explain import Explanation
    from gapless.report.progress import ProgressLine
    from gapless.report.redact import Redactor
    from gapless.tune import Fix

_EXAMPLES = """examples:
  gapless explain snapshot.pickle
  gapless explain snapshot.pickle --at oom:0 --format json
  gapless explain snapshot.pickle --fail-on error         exit status 1 when something is wrong
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "explain",
        help="why a run ran out of memory, and which fix works",
        description="Explains a memory snapshot of PyTorch and proves fixes by replay.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a snapshot: pickle, gzip or page of memory_viz")
    add_recording_options(parser)
    add_fail_on(parser)
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    parser.add_argument("--no-fixes", action="store_true", help="do not replay other settings")
    parser.add_argument("--redact", action="store_true", help="leave out source paths")


def run(args: argparse.Namespace) -> int:
    """Prints the answer; 1 when a finding is of a kind named by --fail-on."""
    check_fail_on(args.fail_on)
    answers = _answers(args)
    redactor = _redactor(answers) if args.redact else None
    if args.format == "json":
        _print_json(answers, redactor)
    else:
        _print_text(answers, args.format, redactor)
    found = [(finding.code, finding.severity) for one, _ in answers for finding in one.findings]
    return int(fails(found, args.fail_on))


def _answers(args: argparse.Namespace) -> list[tuple[Explanation, list[Fix]]]:
    from gapless.cards import find_card  # noqa: PLC0415  (so that --help needs no numpy)
    from gapless.explain import ExplainOptions, explain_all  # noqa: PLC0415
    from gapless.recording import open_recordings  # noqa: PLC0415
    from gapless.report.progress import ProgressLine  # noqa: PLC0415

    card = find_card(args.card) if args.card else None
    with ProgressLine(sys.stderr) as progress:
        recordings = open_recordings(args.file, open_options(args, progress))
        options = ExplainOptions(at=args.at, card_bytes=card.capacity_bytes if card else None)
        explained = explain_all(recordings, options)
        return [(one, [] if args.no_fixes else _fixes(one, card, progress)) for one in explained]


def _fixes(explanation: Explanation, card: Card | None, progress: ProgressLine) -> list[Fix]:
    """The best changes by replay; none when nothing failed, or nothing can be replayed."""
    from gapless.tune import TuneOptions, best_fixes  # noqa: PLC0415

    if not explanation.case.moment.is_failure:
        return []
    return best_fixes(explanation.case, TuneOptions(card=card, progress=progress))


def _redactor(answers: list[tuple[Explanation, list[Fix]]]) -> Redactor:
    from gapless.report.redact import Redactor  # noqa: PLC0415

    paths = {file for one, _ in answers for file in one.recording.files()}
    return Redactor([*paths, *(one.recording.path for one, _ in answers)])


def _print_json(answers: list[tuple[Explanation, list[Fix]]], redactor: Redactor | None) -> None:
    devices: list[dict[str, Any]] = []
    for one, fixes in answers:
        value = {**one.to_json(), "fixes": [fix.to_json() for fix in fixes]}
        devices.append(redactor.json(value) if redactor else value)
    if not devices:
        raise AssertionError("a snapshot has at least one device or is refused")
    print(json.dumps(devices[0] if len(devices) == 1 else {"schema": "gapless.explain.devices/1", "devices": devices}))


def _print_text(answers: list[tuple[Explanation, list[Fix]]], form: str, redactor: Redactor | None) -> None:
    from gapless.report.explanation import to_text  # noqa: PLC0415
    from gapless.report.markdown import to_markdown  # noqa: PLC0415
    from gapless.report.terminal import Terminal  # noqa: PLC0415

    terminal = Terminal(sys.stdout, redactor.text if redactor else None)
    for number, (one, fixes) in enumerate(answers):
        if number:
            terminal.line()
        if len(answers) > 1:
            terminal.line(f"Device {one.recording.device}")
        to_markdown(one, fixes, terminal) if form == "markdown" else to_text(one, fixes, terminal)
