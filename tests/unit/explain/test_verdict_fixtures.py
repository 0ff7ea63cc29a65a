"""The verdict of every recording made on a virtual card for it: three hits and three near misses of each code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gapless.explain import ExplainOptions, Explanation, explain
from gapless.recording import open_recordings

FOLDER = Path(__file__).parents[2] / "fixtures" / "verdicts"
ROWS = [
    row
    for row in json.loads((FOLDER / "manifest.json").read_text())["recordings"]
    if row["expected"]["verdict"]  # others are made for the kinds of memory
]


def each(rows: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=[row["name"] for row in rows])


def known_besides(row: dict[str, Any]) -> ExplainOptions:
    """What the row says has to be told beside the recording: the size of the card, or that a log tells of a library."""
    match row["expected"].get("needs"):
        case "card":
            return ExplainOptions(card_total_bytes=row["card"]["card_bytes"])
        case "log":
            return ExplainOptions(outside_failure="NCCL")
        case _:
            return ExplainOptions()


def explanations(row: dict[str, Any]) -> list[Explanation]:
    return [explain(recording, known_besides(row)) for recording in open_recordings(str(FOLDER / row["file"]))]


@each(ROWS)
def test_verdict_is_the_expected_one(row: dict[str, Any]) -> None:
    assert row["expected"]["verdict"] in {one.verdict.code for one in explanations(row)}


@each(ROWS)
def test_recording_replays_exactly(row: dict[str, Any]) -> None:
    """But for those made to show what cannot: histories that contradict themselves, settings switched in between."""
    checks = [one.check for one in open_recordings(str(FOLDER / row["file"]))]
    cannot = row["expected"]["role"] == "hit" and row["expected"]["code"] in {"REC704", "REC705"}

    assert all(check is None or check.exact != cannot for check in checks)


@each([row for row in ROWS if row["expected"]["role"] == "hit"])
def test_code_is_found(row: dict[str, Any]) -> None:
    assert row["expected"]["code"] in {finding.code for one in explanations(row) for finding in one.findings}


@each([row for row in ROWS if row["expected"]["role"] == "near-miss"])
def test_code_that_only_looks_alike_is_not_the_answer(row: dict[str, Any]) -> None:
    code = row["expected"]["code"]
    found = {finding.code for one in explanations(row) for finding in one.findings}

    assert code not in {one.verdict.code for one in explanations(row)}
    assert code.startswith(("OOM", "FRAG", "OUT", "GROW", "OK")) or code not in found
