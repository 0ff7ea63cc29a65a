"""Every recording of a real allocator replays exactly: each address, size and segment event is the model's own."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gapless import _core
from gapless.recording import Recording, open_recordings
from gapless.recording.recording import ALLOCATED, FREE
from tests.recordings import each_shared_snapshot

CUT_BY_ITS_AUTHORS = "torch2.10_compiled_attention_mini_50_events"
COUNTED = ("alloc", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap")


@cache
def opened(path: Path) -> list[Recording]:
    return open_recordings(str(path))


@cache
def manifest(folder: Path) -> dict[str, dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / "MANIFEST.jsonl").read_text().splitlines()]
    return {row["name"]: row for row in rows}


def is_whole(path: Path) -> bool:
    return CUT_BY_ITS_AUTHORS not in path.name


def has_counters(path: Path) -> bool:
    row = manifest(path.parent).get(path.name, {})
    return "peak_reserved_bytes" in row and row["history"] == "complete"


@each_shared_snapshot()
def test_replay_equals_the_recording(path: Path) -> None:
    for recording in opened(path):
        check = recording.check
        if check is None:
            continue
        codes = [_core.ACTIONS.index(name) for name in COUNTED]
        assert check.events_checked == np.isin(recording.events.action, codes).sum()
        assert check.first_difference is None
        assert (check.events_matching, check.corrections) == (check.events_checked, 0)


@each_shared_snapshot(where=is_whole)
def test_curves_end_in_the_recorded_state(path: Path) -> None:
    for recording in opened(path):
        assert recording.trace.contradiction_count == 0
        blocks = recording._row.state.blocks
        ends = {name: int(values[-1]) for name, values in recording.curves.items()}
        assert ends == {
            "allocated": int(blocks["size"][blocks["state"] == ALLOCATED].sum()),
            "active": int(blocks["size"][blocks["state"] != FREE].sum()),
            "reserved": int(recording._row.state.segments["size"].sum()),
        }


@each_shared_snapshot(where=has_counters)
def test_peaks_and_retries_are_those_that_torch_counted(path: Path) -> None:
    row = manifest(path.parent)[path.name]
    for recording in opened(path):
        curves, device, check = recording.curves, recording.device, recording.check
        assert check is not None
        assert int(curves["reserved"].max()) == row["peak_reserved_bytes"][device]
        assert int(curves["allocated"].max()) == row["peak_allocated_bytes"][device]
        assert check.retries == row["alloc_retries"][device]


@each_shared_snapshot()
def test_only_the_cut_recording_contradicts_itself(path: Path) -> None:
    for recording in opened(path):
        assert recording.trace.contradiction_count == (24 if CUT_BY_ITS_AUTHORS in path.name else 0)
