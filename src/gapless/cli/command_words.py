"""The user's own command behind the options of `gapless run` and `gapless record`."""

from __future__ import annotations

import argparse


def add_command_words(parser: argparse.ArgumentParser) -> None:
    """What is to be run; after everything else."""
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help="script.py or a program, and its words")
    parser.add_argument("-m", dest="module", nargs=argparse.REMAINDER, help="a module instead, as for python -m")
    parser.add_argument("-c", dest="code", nargs=argparse.REMAINDER, help="a program's text instead, as for python -c")


def words_of(args: argparse.Namespace) -> list[str]:
    """What is to be run. After -m and -c argparse would take nothing that begins with a dash for a word."""
    for flag, words in (("-m", args.module), ("-c", args.code)):
        if words is not None:
            return [flag, *words]
    return args.words[1:] if args.words[:1] == ["--"] else list(args.words)
