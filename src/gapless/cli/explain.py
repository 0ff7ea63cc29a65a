"""`gapless explain`: why a run failed, from a recording, a folder of ranks, or a log alone."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gapless.cli.common import add_recorded_conf, add_recording_options
from gapless.cli.fail_on import add_fail_on, fails, wanted_failures

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gapless.explain.finding import Finding

_EXAMPLES = """examples:
  gapless explain snapshot.pickle
  gapless explain snapshot.pickle --at oom:0 --format json
  gapless explain snapshots/                              ranks of a job: the first failure, the outlier
  gapless explain snapshot.pickle --log train.log         NCCL, cuBLAS or cuDNN failed: was it PyTorch's cache?
  gapless explain snapshot.pickle --recorded-card 24GiB   it was recorded there: did somebody else hold memory?
  gapless explain snapshot.pickle --card 24GiB            would it fit there?
  gapless explain snapshot.pickle --card 24GiB --leave-free 6GiB
  gapless explain train.log                               what the messages of a log prove
  kubectl logs trainer | gapless explain -
  gapless explain snapshot.pickle --fail-on error         exit status 1 when something is wrong
"""
STDIN = "-"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "explain",
        help="why a run ran out of memory, and which fix works",
        description="Explains a memory snapshot of PyTorch, or the log of a run that died, and proves fixes by replay.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a snapshot, a folder of ranks, a log, or - for a log on stdin")
    add_recording_options(parser)
    parser.add_argument(
        "--recorded-card",
        metavar="CARD",
        help="the card that the run was recorded on, by name or size: what it lacks, others held",
    )
    add_recorded_conf(parser)
    parser.add_argument("--leave-free", metavar="SIZE", help="memory of the card that others need, like 6GiB")
    parser.add_argument(
        "--log", metavar="LOG", help="the run's log: which library failed (NCCL, cuBLAS, cuDNN), the card's size"
    )
    add_fail_on(parser)
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    parser.add_argument("--no-fixes", action="store_true", help="do not replay other settings")
    parser.add_argument("--redact", action="store_true", help="leave out source paths")


def run(args: argparse.Namespace) -> int:
    """Prints the answer; 1 when a finding is of a kind named by --fail-on."""
    wanted = wanted_failures(args.fail_on, _codes() if args.fail_on else ())
    found = [(finding.code, finding.severity) for finding in _explainer(args.file)(args)]
    return int(fails(found, wanted))


def _codes() -> set[str]:
    from gapless.explain.rules import all_rules  # noqa: PLC0415  (few ask for it)

    return {rule.code for rule in all_rules()}


def _explainer(path: str) -> Callable[[argparse.Namespace], Iterable[Finding]]:
    """What explains such a file and prints the answer; only that is imported."""
    from gapless.sources.sniff import Kind, sniff  # noqa: PLC0415  (so that --help reads nothing)

    kind = Kind.LOG if path == STDIN else sniff(path)
    if kind is Kind.LOG:
        from gapless.cli.explain_log import explain_log_file  # noqa: PLC0415

        return explain_log_file
    if kind is Kind.FOLDER:
        from gapless.cli.explain_folder import explain_folder  # noqa: PLC0415

        return explain_folder
    from gapless.cli.explain_snapshot import explain_snapshot  # noqa: PLC0415

    return explain_snapshot
