"""The part of `gapless explain` for a folder: the snapshots of a job's ranks."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gapless.cli.common import open_options
from gapless.cli.explain_known import known_of, log_of
from gapless.cli.explain_snapshot import Answers, redactor_of
from gapless.errors import GaplessError, InputError
from gapless.explain import ExplainOptions, explain_all
from gapless.explain.ranks import Ranks, join_ranks
from gapless.recording import open_recordings
from gapless.report.progress import ProgressLine
from gapless.report.terminal import Terminal
from gapless.sources.sniff import Kind, sniff

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.explain.finding import Finding


def explain_folder(args: argparse.Namespace) -> list[Finding]:
    """Prints the table of ranks and the answer about those that matter; their findings."""
    known = known_of(args, log_of(args))
    with ProgressLine(sys.stderr) as progress:
        ranks = join_ranks(_explanations(args, known.options, progress))
        matter = [rank.explanation for rank in ranks.that_matter]
        answers: Answers = [(one, [] if args.no_fixes else known.fixes_of(one, progress)) for one in matter]
    _print(ranks, answers, args)
    return [finding for one in matter for finding in one.findings]


def _explanations(args: argparse.Namespace, options: ExplainOptions, progress: ProgressLine) -> list[Explanation]:
    """Of every snapshot in the folder; what cannot be read is named on stderr."""
    paths = [path for path in sorted(Path(args.file).iterdir()) if path.is_file() and not path.name.startswith(".")]
    found: list[Explanation] = []
    for done, path in enumerate(paths):
        progress("reading ranks", done, len(paths))
        try:
            if sniff(str(path)) is Kind.SNAPSHOT:
                found += explain_all(open_recordings(str(path), open_options(args)), options)
        except GaplessError as error:
            print(f"gapless: left out {path.name}: {error.message}", file=sys.stderr)
    if not found:
        raise InputError(
            f"{args.file} holds no memory snapshot that can be read, among {len(paths)} files",
            hint="give the folder with the file of each rank",
        )
    return found


def _print(ranks: Ranks, answers: Answers, args: argparse.Namespace) -> None:
    from gapless.report.explanation import to_text  # noqa: PLC0415  (JSON needs none of these)
    from gapless.report.markdown import to_markdown  # noqa: PLC0415
    from gapless.report.ranks import to_text as ranks_to_text  # noqa: PLC0415

    everyone: Answers = [(rank.explanation, []) for rank in ranks.all]
    redactor = redactor_of([*everyone, *answers]) if args.redact else None
    if args.format == "json":
        value = ranks.to_json()
        for written, (_, fixes) in zip(value["explanations"], answers, strict=True):
            written["fixes"] = [fix.to_json() for fix in fixes]
        print(json.dumps(redactor.json(value) if redactor else value))
        return
    terminal = Terminal(sys.stdout, redactor.text if redactor else None)
    ranks_to_text(ranks, terminal)
    for rank, (one, fixes) in zip(ranks.that_matter, answers, strict=True):
        terminal.line()
        terminal.line(terminal.paint(rank.name, "bold"))
        to_markdown(one, fixes, terminal) if args.format == "markdown" else to_text(one, fixes, terminal)
