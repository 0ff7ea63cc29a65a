"""`gapless tune`: which setting, card or change of the code makes a recorded run fit."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.cli.common import FORMATS, add_recording_options, open_options
from gapless.errors import InputError
from gapless.units import parse_bytes

if TYPE_CHECKING:
    from gapless.recording import Recording

_EXAMPLES = """examples:
  gapless tune snapshot.pickle                          on the card that it was recorded on
  gapless tune snapshot.pickle --card h100-80g
  gapless tune snapshot.pickle --card 24GiB --leave-free 6GiB
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "tune",
        help="find the settings with which a recorded run fits",
        description="Replays a recording under every setting that its sizes suggest, and ranks what helps.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a snapshot: pickle, gzip or page of memory_viz")
    add_recording_options(parser)
    parser.add_argument("--leave-free", metavar="SIZE", help="memory of the card that others need, like 6GiB")
    parser.add_argument("--conf", metavar="TEXT", help="settings when it was recorded (default: told by the file)")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--redact", action="store_true", help="leave out source paths")


def run(args: argparse.Namespace) -> int:
    """Prints the answer for the device that is meant."""
    from gapless.cards import find_card  # noqa: PLC0415  (so that --help needs no numpy)
    from gapless.recording import open_recordings  # noqa: PLC0415
    from gapless.report.progress import ProgressLine  # noqa: PLC0415
    from gapless.report.redact import Redactor  # noqa: PLC0415
    from gapless.report.terminal import Terminal  # noqa: PLC0415
    from gapless.report.tune import to_json, to_text  # noqa: PLC0415
    from gapless.tune import TuneOptions, tune  # noqa: PLC0415

    card = find_card(args.card) if args.card else None
    leave_free = parse_bytes(args.leave_free) if args.leave_free else 0
    with ProgressLine(sys.stderr) as progress:
        options = replace(open_options(args, progress), conf=args.conf)
        recording = _meant(open_recordings(args.file, options), args.file)
        asked = TuneOptions(card=card, leave_free_bytes=leave_free, at=args.at, progress=progress)
        result = tune(recording, asked)
    redactor = Redactor([*recording.files(), recording.path] if args.redact else [])
    if args.format == "json":
        print(json.dumps(redactor.json(to_json(result))))
    else:
        to_text(result, Terminal(sys.stdout, redactor.text))
    return 0


def _meant(recordings: list[Recording], path: str) -> Recording:
    """The only one, or the only one that ran out of memory."""
    failed = [recording for recording in recordings if len(recording.oom_events)]
    chosen = failed if len(failed) == 1 else recordings
    if len(chosen) == 1:
        return chosen[0]
    if not chosen:
        raise InputError("the file holds no device with memory", where=path)
    devices = " and ".join(str(recording.device) for recording in recordings)
    raise InputError(f"the file holds devices {devices}", hint=f"say which: --device {chosen[0].device}", where=path)
