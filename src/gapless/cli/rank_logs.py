"""The logs in a folder of ranks: what they tell of a rank with a snapshot, and which stand for a rank of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gapless.explain.log import explain_log
from gapless.explain.log.failed_library import failed_library
from gapless.explain.rank import rank_of_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.explain import Explanation
    from gapless.explain.log import LogExplanation
    from gapless.sources.log import LogScan


@dataclass(frozen=True)
class RankLogs:
    """Every log of a folder, or the one that --log names, which then speaks for all ranks."""

    scans: tuple[tuple[Path, LogScan], ...]
    named: LogScan | None = None

    def of_rank(self, rank: int | None) -> LogScan | None:
        """The log that says most of a rank: its own, else one of all ranks in which its lines are marked."""
        if self.named is not None:
            return self.named
        own = [scan for path, scan in self.scans if rank is not None and rank_of_name(path.name) == rank]
        marked = [
            scan for path, scan in self.scans if rank_of_name(path.name) is None and rank in ranks_in(scan) - {None}
        ]
        able = [*own, *marked]
        return next((scan for scan in able if failed_library(scan, rank)), next(iter(able), None))

    def alone(self, recordings: Sequence[Explanation]) -> list[LogExplanation]:
        """Of the logs whose failure no snapshot shows: of a rank without one, or a library's where no rank failed."""
        known = {rank_of_name(Path(one.recording.path).name) for one in recordings}
        has_failed = any(one.case.moment.is_failure for one in recordings)
        found = []
        for path, scan in self.scans:
            explained = explain_log(scan, path=str(path))
            rank = rank_of_name(path.name)
            ranks = {rank} if rank is not None else ranks_in(scan) or {None}
            is_shown = ranks <= known or (ranks == {None} and has_failed)
            if explained.findings[0].severity == "error" and not is_shown:
                found.append(explained)
        return found


def ranks_in(scan: LogScan) -> set[int | None]:
    """The ranks whose failures a log holds; None for lines that name none."""
    return {one.origin.rank for some in (scan.messages, scan.libraries) for one in some if not one.is_quoted}
