"""`gapless cards`: the cards that Gapless knows by name, and where each figure is from."""

from __future__ import annotations

import argparse
import json
import sys

from gapless.cli.common import FORMATS

_EXAMPLES = """examples:
  gapless cards
  gapless cards --format json
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "cards",
        help="the cards that are known by name",
        description="Lists the cards that --card knows: what the driver reports and what is left for PyTorch.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--format", choices=FORMATS, default="text")


def run(args: argparse.Namespace) -> int:
    """Prints the table."""
    from gapless.report.cards import cards_to_json, cards_to_text  # noqa: PLC0415  (so that --help loads nothing)
    from gapless.report.terminal import Terminal  # noqa: PLC0415

    if args.format == "json":
        print(json.dumps(cards_to_json()))
    else:
        cards_to_text(Terminal(sys.stdout))
    return 0
