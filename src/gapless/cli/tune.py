"""`gapless tune`: which setting, card or change of the code makes a recorded run fit."""

from __future__ import annotations

import argparse
import json
import sys

from gapless.cli.common import (
    FORMATS,
    add_recorded_conf,
    add_recording_options,
    card_of,
    open_options,
    recordings_of,
)
from gapless.units import parse_bytes

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
    add_recording_options(
        parser, device="which device (default: the first that failed, else the fullest; others are looked at)"
    )
    parser.add_argument("--leave-free", metavar="SIZE", help="memory of the card that others need, like 6GiB")
    add_recorded_conf(parser)
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--redact", action="store_true", help="leave out source paths")


def run(args: argparse.Namespace) -> int:
    """Prints the answer for one device, and whether it suits the others."""
    from gapless.cli.redacting import redactor_of  # noqa: PLC0415
    from gapless.recording.choosing import rest_of  # noqa: PLC0415
    from gapless.report.devices import rest_to_text  # noqa: PLC0415
    from gapless.report.progress import ProgressLine  # noqa: PLC0415
    from gapless.report.terminal import Terminal  # noqa: PLC0415
    from gapless.report.tune import to_json, to_text  # noqa: PLC0415
    from gapless.tune import TuneOptions, tune  # noqa: PLC0415
    from gapless.tune.other_devices import other_devices, worst_first  # noqa: PLC0415

    card = card_of(args)
    leave_free = parse_bytes(args.leave_free, "--leave-free") if args.leave_free is not None else 0
    with ProgressLine(sys.stderr) as progress:
        recordings = worst_first(recordings_of(args.file, open_options(args, progress)))
        asked = TuneOptions(card=card, leave_free_bytes=leave_free, at=args.at, progress=progress)
        result = tune(recordings[0], asked)
        others = other_devices(result, recordings, asked)
    redactor = redactor_of(recordings) if args.redact else None
    if args.format == "json":
        value = to_json(result, others)
        print(json.dumps(redactor.json(value) if redactor else value))
        return 0
    terminal = Terminal(sys.stdout, redactor)
    to_text(result, terminal, others)
    rest_to_text(rest_of(recordings, args.device), terminal)
    return 0
