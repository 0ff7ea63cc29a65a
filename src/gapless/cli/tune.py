"""`gapless tune`: which setting, card or change of the code makes a recorded run fit."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from gapless.cards import find_card
from gapless.cli.opening import add_recording_options, open_chosen
from gapless.errors import InputError
from gapless.report.progress import ProgressLine
from gapless.report.terminal import Terminal
from gapless.report.tune import to_json, to_text
from gapless.tune import TuneOptions, tune
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
    parser.add_argument("file", metavar="FILE", help="a memory snapshot")
    parser.add_argument("--card", metavar="CARD", help="a card's name, or what PyTorch may reserve, like 24GiB")
    parser.add_argument("--leave-free", metavar="SIZE", help="memory of the card that others need")
    add_recording_options(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the answer for the device that is meant."""
    card = find_card(args.card) if args.card else None
    leave_free = parse_bytes(args.leave_free) if args.leave_free else 0
    progress = ProgressLine(sys.stderr)
    try:
        recordings = open_chosen(args.file, args, progress)
        recording = _meant(recordings, args.file)
        options = TuneOptions(card=card, leave_free_bytes=leave_free, at=args.at, progress=progress)
        result = tune(recording, options)
    finally:
        progress.close()
    if args.format == "json":
        print(json.dumps(to_json(result)))
    else:
        to_text(result, Terminal(sys.stdout))
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
