"""`gapless run`: runs the user's own script on a card that is not there, and says what memory it takes."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from gapless.cli.command_words import add_command_words, words_of
from gapless.cli.common import FORMATS, settings_text
from gapless.cli.poses import poses_of
from gapless.cli.pretend_card import add_driver_options, pretend_card, with_context
from gapless.errors import InputError
from gapless.user_command import command_of, status_of

if TYPE_CHECKING:
    from gapless.virtual.launch import Ended

OUT_OF_MEMORY = 71
_EXAMPLES = """examples:
  gapless run --card h100-80g train.py --batch 8
  gapless run --card 24GiB --steps 3 -m package.train --config small.yaml
  gapless run --card a100-40g --gpus 4 torchrun --nproc-per-node 4 train.py
  gapless run --card h100-80g --world 256 --rank 0,63,255 train.py      those ranks of a large job, one after the other
  gapless run --card 24GiB --conf "expandable_segments:True" --save run.pickle train.py
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "run",
        help="run a script on a card that you do not have",
        description="Runs a script with your own PyTorch on a pretend card, and says what memory it takes.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--card", metavar="CARD", required=True, help="a card's name (h100-80g) or a size (24GiB)")
    parser.add_argument(
        "--gpus", metavar="N", type=int, help="how many of them in a machine (default: 1; with --world, 8 at most)"
    )
    parser.add_argument("--world", metavar="N", type=int, help="pose as ranks of a job of N, without torchrun")
    parser.add_argument("--rank", metavar="LIST", help="with --world: which ranks, like 0,63,255 (default: 0)")
    parser.add_argument("--conf", metavar="TEXT", help="settings of PyTorch's allocator for this run")
    add_driver_options(parser)
    parser.add_argument("--steps", metavar="N", type=int, help="stop after N steps of an optimizer")
    parser.add_argument("--save", metavar="FILE", help="keep the recording: a snapshot, or a folder for several ranks")
    parser.add_argument(
        "--selected",
        metavar="PART",
        type=float,
        default=0.5,
        help="what a large mask selects, whose values are not known: 0 to 1 (default: 0.5)",
    )
    parser.add_argument("--no-small-values", action="store_true", help="compute nothing, not even small tensors")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--redact", action="store_true", help="leave out source paths")
    add_command_words(parser)


def run(args: argparse.Namespace) -> int:
    """Runs it; its own exit status, or 71 where it ran out of memory."""
    from gapless.cards import find_card  # noqa: PLC0415  (so that --help loads nothing)
    from gapless.cli.ran import explained, redactor_of, save  # noqa: PLC0415
    from gapless.report.terminal import Terminal  # noqa: PLC0415
    from gapless.report.virtual_run import to_json, to_text  # noqa: PLC0415
    from gapless.virtual import launch  # noqa: PLC0415

    if args.steps is not None and args.steps < 1:
        raise InputError("--steps counts from 1")
    if not 0 <= args.selected <= 1:
        raise InputError(f"{args.selected} is not a part of a whole, 0 to 1", where="--selected")
    card = with_context(find_card(args.card), args.context)
    command = command_of(words_of(args), "gapless run --card 24GiB")
    gpus, poses = poses_of(args.gpus, args.world, args.rank, command)
    env = dict(os.environ)
    if args.conf is not None:
        env["PYTORCH_CUDA_ALLOC_CONF"] = env["PYTORCH_ALLOC_CONF"] = settings_text(args.conf)
    with tempfile.TemporaryDirectory(prefix="gapless-") as folder:
        ended = launch.run_as(
            poses,
            command,
            pretend_card(card, gpus, args),
            Path(folder),
            env=env,
            stdout=None if args.format == "text" else sys.stderr.fileno(),  # the answer is alone on standard output
            steps=args.steps,
            small_values=not args.no_small_values,
            selected=args.selected,
        )
        processes = [explained(facts, card) for facts in ended.processes]
        if args.save is not None:
            save(processes, Path(args.save))
        redactor = redactor_of(processes) if args.redact else None
        if args.format == "json":
            answer = to_json(ended, card, processes)
            print(json.dumps(redactor.json(answer) if redactor else answer))
        else:
            to_text(ended, card, processes, Terminal(sys.stderr, redactor))
    return _status(ended)


def _status(ended: Ended) -> int:
    if ended.ran_out:
        return OUT_OF_MEMORY
    return status_of(ended.status)
