"""`gapless conf`: explains and checks a settings string of PyTorch's allocator."""

from __future__ import annotations

import argparse
import json
import os
import sys

from gapless.cli.common import settings_of, settings_text
from gapless.cli.fail_on import fails, wanted_failures
from gapless.conf import NEWEST, RULES, USES, Environment, Release, read_environment
from gapless.conf.answer import answer
from gapless.report.conf import to_json, to_text
from gapless.report.terminal import Terminal

_EXAMPLES = """examples:
  gapless conf "expandable_segments:True,max_split_size_mb:128" --torch 2.9
  gapless conf                                  checks what the environment says
  gapless conf "expandable_segments:False" --after "expandable_segments:True,max_split_size_mb:128"
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "conf",
        help="explain and check PYTORCH_CUDA_ALLOC_CONF",
        description="Explains each option of a settings string, checks it, and prints the corrected line.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("text", nargs="?", help="the settings; without it the environment variables are read")
    parser.add_argument("--torch", metavar="VERSION", help=f"PyTorch's version (default: {NEWEST})")
    parser.add_argument("--after", metavar="TEXT", help="TEXT was in force before: check a change while the job runs")
    parser.add_argument(
        "--uses", metavar="USE", action="append", default=[], help=f"what the program uses: {', '.join(USES)}"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--fail-on", metavar="WHAT", action="append", default=[], help="error, warning, info or a code")


def run(args: argparse.Namespace) -> int:
    """Prints the answer; 1 when a finding is of a kind named by --fail-on."""
    wanted = wanted_failures(args.fail_on, {rule.code for rule in RULES})
    release = Release.parse(args.torch) if args.torch is not None else NEWEST
    environment = read_environment(os.environ, release) if args.text is None else None
    text, source = _text(args.text, environment)
    previous = settings_of(args.after, release, "--after") if args.after is not None else None
    found = answer(text, release, environment=environment, uses=args.uses, previous=previous)
    note = (
        release.note if args.torch is not None else f"PyTorch {release} is assumed; --torch VERSION asks for another."
    )
    if args.format == "json":
        print(json.dumps(to_json(found, source, note)))
    else:
        to_text(found, source, note, Terminal(sys.stdout))
    return int(fails([(finding.code, finding.severity) for finding in found.findings], wanted))


def _text(given: str | None, environment: Environment | None) -> tuple[str, str]:
    """The settings and where they come from."""
    if given is None:
        return (environment.text, environment.variable) if environment else ("", "")
    return settings_text(given), "argument"
