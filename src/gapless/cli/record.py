"""`gapless record`: runs the user's own command with the recorder in each of its processes that uses a GPU."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import time
from pathlib import Path

from gapless.cli.command_words import add_command_words, words_of
from gapless.cli.failures import say
from gapless.errors import InputError
from gapless.recorder.files import CAPSULE
from gapless.recorder.options import Options
from gapless.user_command import command_of, status_of, wait

_EXAMPLES = """examples:
  gapless record train.py --batch 8
  gapless record --out recording torchrun --nproc-per-node 8 train.py
  gapless record --threshold 0.95 -m package.train
  GAPLESS_RECORD=recording python train.py         the same without this command
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "record",
        help="run a script on your GPUs and record why memory ran out",
        description="Runs a command, and writes down what memory was like when it ran out, and at the end.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", metavar="FOLDER", help="where to (default: gapless-recording-DATE-TIME)")
    parser.add_argument(
        "--max-events",
        metavar="N",
        type=int,
        default=Options.max_events,
        help=f"most events that each device keeps (default: {Options.max_events:,})",
    )
    parser.add_argument(
        "--snapshot-seconds",
        metavar="S",
        type=float,
        default=Options.snapshot_seconds,
        help=f"longest that writing a snapshot may take; 0 for none (default: {Options.snapshot_seconds:g})",
    )
    parser.add_argument(
        "--threshold",
        metavar="PART",
        type=float,
        default=Options.threshold,
        help="write a snapshot once when this part of the device is in use: 0 to 1 (default: never)",
    )
    parser.add_argument(
        "--signal",
        metavar="NAME",
        default=Options.signal,
        help="write a snapshot at this signal: USR1, USR2, TERM, none (default: USR1, if nobody else uses it)",
    )
    parser.add_argument("--reset-peaks", action="store_true", help="let PyTorch's peaks begin anew with each step")
    add_command_words(parser)


def run(args: argparse.Namespace) -> int:
    """Runs it; its own exit status."""
    command = command_of(words_of(args), "gapless record")
    folder = time.strftime("gapless-recording-%Y%m%d-%H%M%S") if args.out is None else args.out
    try:
        options = Options(folder, args.max_events, args.snapshot_seconds, args.threshold, args.signal, args.reset_peaks)
    except ValueError as error:
        raise InputError(str(error), hint="gapless record --help describes what it takes") from error
    known = set(_capsules(folder))
    status = wait(subprocess.Popen(command, env={**os.environ, **options.to_environment()}))
    found = [path for path in _capsules(folder) if path not in known]
    shown = shlex.quote(folder)
    if not found:
        say("gapless: nothing was recorded: no process used a GPU with PyTorch, or its Python has no gapless")
    elif status == 0:
        say(f"gapless: recorded in {shown}; to see what took memory: gapless explain {shown}")
    return status_of(status)


def _capsules(folder: str) -> list[Path]:
    return list(Path(folder).glob(f"*{CAPSULE}"))
