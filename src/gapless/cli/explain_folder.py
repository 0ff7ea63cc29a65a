"""The part of `gapless explain` for a folder: the snapshots and logs of a job's ranks."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.cli.rank_files import RankFiles
from gapless.cli.redacting import redactor_of
from gapless.explain import Explanation
from gapless.explain.ranks import Ranks
from gapless.report.log import paths_in
from gapless.report.progress import ProgressLine
from gapless.report.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gapless.cli.explain_known import RankAnswer
    from gapless.explain.finding import Finding
    from gapless.report.redact import Redactor


def explain_folder(args: argparse.Namespace) -> list[Finding]:
    """Prints the table of ranks and the answer about those that matter; their findings."""
    with ProgressLine(sys.stderr) as progress:
        folder = RankFiles(args, progress)
        ranks = folder.ranks()
        answers = [folder.answer(rank, ranks.explanation_of(rank)) for rank in ranks.that_matter]
    _print(ranks, answers, folder.left_out, args)
    return [finding for rank in ranks.that_matter for finding in rank.explanation.findings]


def _print(ranks: Ranks, answers: Sequence[RankAnswer], left_out: Mapping[str, str], args: argparse.Namespace) -> None:
    from gapless.report.explanation import to_text  # noqa: PLC0415  (JSON needs none of these)
    from gapless.report.log import to_markdown as log_to_markdown  # noqa: PLC0415
    from gapless.report.log import to_text as log_to_text  # noqa: PLC0415
    from gapless.report.markdown import to_markdown  # noqa: PLC0415
    from gapless.report.ranks import to_text as ranks_to_text  # noqa: PLC0415

    redactor = _redactor(ranks, left_out) if args.redact else None
    if redactor is not None:
        left_out = {path: redactor.error(text) for path, text in left_out.items()}
        ranks = Ranks(tuple(replace(rank, path=redactor.path(rank.path)) for rank in ranks.all))
    if args.format == "json":
        value = {**ranks.to_json(), "left_out": [{"path": path, "message": text} for path, text in left_out.items()]}
        value["explanations"] = [{**one.to_json(), "fixes": [fix.to_json() for fix in fixes]} for one, fixes in answers]
        print(json.dumps(redactor.json(value) if redactor else value))
        return
    terminal = Terminal(sys.stdout, redactor)
    is_markdown = args.format == "markdown"
    fence = ["```"] if is_markdown else []  # the table's columns hold in code alone
    for line in fence:
        terminal.line(line)
    ranks_to_text(ranks, terminal)
    for line in fence:
        terminal.line(line)
    for rank, (one, fixes) in zip(ranks.that_matter, answers, strict=True):
        terminal.line()
        terminal.line(terminal.paint(rank.name, "bold"))
        if isinstance(one, Explanation):
            (to_markdown if is_markdown else to_text)(one, fixes, terminal)
        else:
            (log_to_markdown if is_markdown else log_to_text)(one, terminal)


def _redactor(ranks: Ranks, left_out: Iterable[str]) -> Redactor:
    """Of every path in the answers, and the names of the files."""
    logs = [rank.explanation for rank in ranks.all if not isinstance(rank.explanation, Explanation)]
    snapshots = [rank.explanation.recording for rank in ranks.all if isinstance(rank.explanation, Explanation)]
    return redactor_of(snapshots, {*left_out, *(path for log in logs for path in (*paths_in(log), log.path))})
