"""What a run on the pretend card left: each process explained, its recordings kept."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

from gapless.cli.explain_known import Known
from gapless.cli.redacting import redactor_of as redactor_of_recordings
from gapless.errors import InputError
from gapless.explain import explain_all
from gapless.recording import open_recordings
from gapless.replaying import ReplayOptions, replay
from gapless.report.progress import ProgressLine
from gapless.report.virtual_run import RanProcess
from gapless.tune.known_cards import smallest_known_card

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from gapless.cards import Card
    from gapless.recording import Recording
    from gapless.report.redact import Redactor


def explained(facts: dict[str, Any], card: Card) -> RanProcess:
    """What a process recorded, explained as `gapless explain --recorded-card` would."""
    known = Known(None, recorded_card=card, logged_card=None, leave_free_bytes=0, library=None, at=None)
    recordings = open_recordings(facts["snapshot"]) if facts["snapshot"] else []
    ranges = {one.device: _reserved_range(one, card) for one in recordings if one.event_count}
    with ProgressLine(sys.stderr) as progress:
        answers = [known.answer(one, progress) for one in explain_all(recordings, known.options)]
    whole = [one for one in recordings if one.event_count]
    failed = facts["failure"] is not None or any(len(one.oom_events) for one in whole)
    smallest = smallest_known_card(whole) if whole and not failed else None
    return RanProcess(facts, answers, ranges, smallest)


def _reserved_range(recording: Recording, card: Card) -> tuple[int, int]:
    """The peak of reserved memory, in bytes, over the orders of addresses that a driver may have."""
    options = ReplayOptions(capacity_bytes=card.capacity_bytes, total_bytes=card.total_bytes)
    recorded = int(recording.curves["reserved"].max())
    least, most = replay(recording, options).reserved_bytes_peak_range
    return min(least, recorded), max(most, recorded)


def redactor_of(processes: Sequence[RanProcess]) -> Redactor:
    """Of every path that the report can tell."""
    recordings = [explanation.recording for one in processes for explanation, _ in one.explanations]
    return redactor_of_recordings(recordings, {row["file"] for one in processes for row in one.facts["assumptions"]})


def save(processes: Sequence[RanProcess], target: Path) -> None:
    """Keep the recordings: one as a file, several in a folder, by rank.

    Raises:
        InputError: Nothing was recorded.
    """
    recorded = [(one.rank, one.snapshot) for one in processes if one.snapshot is not None]
    if not recorded:
        raise InputError("nothing was recorded: no process used a GPU with PyTorch's own allocator", where="--save")
    if len(recorded) == 1:
        shutil.copyfile(recorded[0][1], target)
        return
    target.mkdir(parents=True, exist_ok=True)
    for number, (rank, snapshot) in enumerate(recorded):
        shutil.copyfile(snapshot, target / f"rank{number if rank is None else rank}.pickle")
