"""The files in a folder of ranks, read and explained together."""

from __future__ import annotations

import argparse
import re
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gapless.cli.common import open_options, recordings_of
from gapless.cli.explain_known import known_of, log_of
from gapless.cli.rank_logs import RankLogs
from gapless.cli.rank_notes import say_copies, say_left_out, say_rest
from gapless.errors import FormatError, GaplessError, InputError
from gapless.explain import Explanation, explain
from gapless.explain.options import parse_at
from gapless.explain.rank import rank_of_name
from gapless.explain.ranks import Ranks, join_ranks
from gapless.recorder.files import CAPSULE
from gapless.recording.choosing import rest_of
from gapless.sources.folder import Twins, files_in
from gapless.sources.log import read_log
from gapless.sources.sniff import Kind, sniff

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gapless.cli.explain_known import Known, RankAnswer
    from gapless.explain.log import LogExplanation
    from gapless.explain.rank import Rank
    from gapless.report.progress import ProgressLine
    from gapless.sources.log import LogScan

_NO_LOGS_NAME = re.compile(r"\.(pickle|pkl|html?|json)(\.gz)?$", re.IGNORECASE)


class RankFiles:
    """The files of a folder, each explained with what the others tell of its rank."""

    def __init__(self, args: argparse.Namespace, progress: ProgressLine) -> None:
        self.args, self.progress = args, progress
        # A mistake in an option is one mistake, not one for every file.
        self._opening = open_options(args)
        if args.at is not None:
            parse_at(args.at)
        self._asked = known_of(args)
        self._named = log_of(args)
        self.left_out: dict[str, str] = {}
        """What could not be read, with the reason."""
        self._known: dict[int, Known] = {}

    def ranks(self) -> Ranks:
        """All ranks.

        Raises:
            InputError: No file tells of any.
        """
        snapshots, scans = self._files()
        logs = RankLogs(tuple(scans), self._named)
        explained: list[Explanation] = []
        for done, path in enumerate(snapshots):
            self.progress("reading ranks", done, len(snapshots))
            with self._leaving_out(path):
                explained += self._explained(path, logs)
        self.progress.close()
        say_left_out(self.left_out, redacted=self.args.redact)
        alone = logs.alone(explained)
        if not explained and not alone:
            raise InputError(
                f"{self.args.file} holds no memory snapshot that can be read, and no log of a failure",
                hint="give the folder with the file of each rank",
            )
        if explained:
            self._asked.check(explained)
        return join_ranks(explained, alone)

    def answer(self, rank: Rank, explanation: Explanation | LogExplanation) -> RankAnswer:
        """What is said of a rank, with advice that follows the replay, and the best changes; none for a log."""
        if self.args.no_fixes or not isinstance(explanation, Explanation):
            return explanation, []
        return self._known[id(rank.explanation)].answer(explanation, self.progress)

    def _files(self) -> tuple[list[Path], list[tuple[Path, LogScan]]]:
        snapshots: list[Path] = []
        logs: list[tuple[Path, LogScan]] = []
        twins, copies = Twins(), list[tuple[Path, Path]]()
        for path in files_in(self.args.file):
            with self._leaving_out(path):
                if sniff(str(path)) is Kind.SNAPSHOT:
                    twin = twins.twin_of(path)
                    copies += [(path, twin)] if twin is not None else []
                    snapshots.append(path)
                else:
                    logs.append((path, _log(path)))
        self.progress.close()
        say_copies(copies, redacted=self.args.redact)
        return snapshots, logs

    def _explained(self, path: Path, logs: RankLogs) -> list[Explanation]:
        """Each device of a snapshot. Where PyTorch itself failed, no library did."""
        rank = rank_of_name(path.name)
        known = known_of(self.args, logs.of_rank(rank), rank)
        found = []
        recordings = recordings_of(str(path), self._opening)
        say_rest(path, rest_of(recordings, self.args.device), redacted=self.args.redact)
        for recording in recordings:
            mine = known
            if len(recording.oom_events) and not self.args.log:
                mine = replace(known, library=None)
            elif not len(recording.oom_events) and (known.at or "").startswith("oom"):
                mine = replace(known, at=None)  # others failed
            one = explain(recording, mine.options)
            self._known[id(one)] = mine
            found.append(one)
        return found

    @contextmanager
    def _leaving_out(self, path: Path) -> Iterator[None]:
        """Goes on without a file that cannot be read."""
        try:
            yield
        except GaplessError as error:
            self.left_out[str(path)] = error.message


def _log(path: Path) -> LogScan:
    scan = read_log(path)  # text without a failure, in a file named as a snapshot, is a snapshot that was spoiled
    is_named_otherwise = _NO_LOGS_NAME.search(path.name) and not path.name.endswith(CAPSULE)
    if is_named_otherwise and not scan.messages and not scan.libraries:
        raise FormatError(f"{path} is text, neither a memory snapshot nor the log of a failure")
    return scan
