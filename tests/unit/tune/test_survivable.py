"""Runs recorded whole on a large card, replayed on a smaller one, where each was measured, setting by setting."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gapless.recording import Recording, open_recordings
from gapless.tune import Grade, Outcome
from gapless.tune.candidate import Candidate, of_conf
from gapless.tune.fix import Kind
from gapless.tune.search import try_all
from gapless.tune.tried import Tried
from tests.unit.tune.made import case

FOLDER = Path(__file__).parents[2] / "fixtures" / "survivable"
Row = dict[str, Any]
ROWS: dict[str, Row] = {row["name"]: row for row in json.loads((FOLDER / "manifest.json").read_text())["recordings"]}
WHOLE = [row for name, row in ROWS.items() if name.endswith("_whole")]
REPLAYS = [
    pytest.param(
        row, rerun, id=f"{row['name']}-{rerun['card']['conf'] or 'default'}-{rerun['card']['card_bytes'] >> 20}"
    )
    for row in WHOLE
    for rerun in ROWS[row["expected"]["smaller_card"]]["measured_reruns"]
]


@cache
def recording_of(file: str) -> Recording:
    (recording,) = open_recordings(str(FOLDER / file))
    return recording


def tried(row: Row, rerun: Row) -> Tried:
    """The whole run, replayed with the rerun's settings on its card."""
    card = rerun["card"]
    made = case(recording_of(row["file"]), card=card["card_bytes"] - card["context_bytes"])
    candidate = of_conf(made, card["conf"], "the rerun") or Candidate(kind=Kind.SETTING, change="nothing")
    (one,) = try_all(made, [candidate])
    return one


def test_reruns_are_of_both_kinds_under_most_settings() -> None:
    by_setting: dict[str, set[str]] = {}
    for _, rerun in (param.values for param in REPLAYS):
        by_setting.setdefault(rerun["card"]["conf"], set()).add(rerun["outcome"])

    assert len(WHOLE) >= 12
    assert [conf for conf, outcomes in by_setting.items() if len(outcomes) < 2] == []


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in WHOLE])
def test_nothing_fails_on_the_card_of_the_recording(row: Row) -> None:
    assert row["measured"]["ooms"] == 0
    assert recording_of(row["file"]).check.exact


@pytest.mark.parametrize(("row", "rerun"), REPLAYS)
def test_replay_ends_as_the_rerun_did(row: Row, rerun: Row) -> None:
    one = tried(row, rerun)

    if rerun["outcome"] == "survives":
        assert one.outcome in {Outcome.SURVIVES, Outcome.SERVES_REQUEST}
        assert one.fix.reserved_bytes_peak_after == rerun["reserved_bytes_peak"]
    else:
        assert (one.outcome, one.fix.grade) == (Outcome.FAILS, Grade.PROVED)
