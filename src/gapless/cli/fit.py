"""`gapless fit`: the largest job that fits on each card, found by runs on the pretend one."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time

from gapless.cli.command_words import add_command_words, words_of
from gapless.cli.common import FORMATS, settings_text
from gapless.errors import InputError
from gapless.units import parse_bytes
from gapless.user_command import command_of

_EXAMPLES = """examples:
  gapless fit --cards 24GiB,h100-80g,b200 --vary batch=1:512 -- train.py --batch {batch}
  gapless fit --cards h100-80g --vary batch=1:64 --vary ckpt=off,on -- train.py --batch {batch} --ckpt {ckpt}
  gapless fit --cards h100-80g --vary length=1024:65536:1024 --steps 2 -- -m package.train --length {length}
  gapless fit --cards t4,l4,a100-40g,h100-80g train.py            on which of these does it fit?
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "fit",
        help="find the largest job that fits on a card",
        description="Runs a script on a pretend card with other values, until the largest one that fits is known.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cards", metavar="LIST", required=True, help="cards by name or size, like 24GiB,h100-80g")
    parser.add_argument(
        "--vary",
        metavar="NAME=VALUES",
        action="append",
        default=[],
        help="batch=1:512 seeks the largest, checkpointing=off,on tries each; {NAME} stands for it in the command",
    )
    parser.add_argument("--gpus", metavar="N", type=int, default=1, help="how many cards a process sees (default: 1)")
    parser.add_argument("--conf", metavar="TEXT", help="settings of PyTorch's allocator for all runs")
    parser.add_argument("--steps", metavar="N", type=int, help="stop each run after N steps of an optimizer")
    parser.add_argument(
        "--margin", metavar="SIZE", help="what stays free on a card (default: 2 %% of it, and 256 MiB at least)"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    add_command_words(parser)


def run(args: argparse.Namespace) -> int:
    """Prints the table; 1 when nothing fits on any card."""
    from gapless.cards import find_card  # noqa: PLC0415  (so that --help loads nothing)
    from gapless.fit import FitOptions, fit, parse_varied  # noqa: PLC0415
    from gapless.report.fit import to_json, to_text  # noqa: PLC0415
    from gapless.report.terminal import Terminal  # noqa: PLC0415

    for name, count in (("--gpus", args.gpus), ("--steps", args.steps)):
        if count is not None and count < 1:
            raise InputError("it counts from 1", where=name)
    varied = [parse_varied(text) for text in args.vary]
    cards = [find_card(text, "--cards") for text in args.cards.split(",")]
    words = words_of(args)
    command_of(words, "gapless fit --cards 24GiB")  # what cannot be run is refused before anything is
    env = dict(os.environ)
    if args.conf is not None:
        env["PYTORCH_CUDA_ALLOC_CONF"] = env["PYTORCH_ALLOC_CONF"] = settings_text(args.conf)
    with _Runs() as runs:
        options = FitOptions(
            gpus=args.gpus,
            steps=args.steps,
            margin_bytes=parse_bytes(args.margin, "--margin") if args.margin is not None else None,
            env=env,
            on_run=runs,
        )
        result = fit(words, cards, varied, options)
    if args.format == "json":
        print(json.dumps(to_json(result)))
    else:
        to_text(result, Terminal(sys.stdout))
    return int(all(row.found.fitting is None for row in result.rows))


class _Runs:
    """Says on a terminal which run is under way: each takes as long as the script does."""

    def __init__(self) -> None:
        self._count = 0
        self._begun_s = time.monotonic()
        self._width = 0

    def __enter__(self) -> _Runs:
        return self

    def __exit__(self, *_: object) -> None:
        self._write("")

    def __call__(self, what: str) -> None:
        self._count += 1
        self._write(f"run {self._count}: {what} ({time.monotonic() - self._begun_s:.0f} s so far)")

    def _write(self, text: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
            sys.stderr.flush()
            self._width = len(text)
