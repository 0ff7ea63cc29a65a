"""The verdict of every recording made on a virtual card for it: three hits and three near misses of each code.

What is not right yet stands in NOT_YET with its reason; a recording that becomes right must leave the list.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gapless.explain import ExplainOptions, Explanation, explain
from gapless.recording import open_recordings

FOLDER = Path(__file__).parents[2] / "fixtures" / "verdicts"
NOT_YET: dict[str, str] = {}
NOT_EXACT: dict[str, str] = {}


def each(why_not: dict[str, str]) -> list[Any]:
    rows = json.loads((FOLDER / "manifest.json").read_text())["recordings"]
    return [
        pytest.param(
            row, id=row["name"], marks=pytest.mark.xfail(reason=why_not[row["name"]]) if row["name"] in why_not else ()
        )
        for row in rows
        if row["expected"]["verdict"] or row["name"] in why_not
    ]


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


@pytest.mark.parametrize("row", each(NOT_YET))
def test_verdict_is_the_expected_one(row: dict[str, Any]) -> None:
    assert row["expected"]["verdict"] in {one.verdict.code for one in explanations(row)}


@pytest.mark.parametrize("row", each(NOT_EXACT))
def test_recording_replays_exactly(row: dict[str, Any]) -> None:
    checks = [one.check for one in open_recordings(str(FOLDER / row["file"]))]

    assert all(check is None or check.exact for check in checks)


NOT_FOUND: dict[str, str] = {}
TAKEN_FOR_IT: dict[str, str] = {}


def of_role(role: str, why_not: dict[str, str]) -> list[Any]:
    return [param for param in each(why_not) if param.values[0]["expected"]["role"] == role]


@pytest.mark.parametrize("row", of_role("hit", NOT_FOUND))
def test_code_is_found(row: dict[str, Any]) -> None:
    assert row["expected"]["code"] in {finding.code for one in explanations(row) for finding in one.findings}


@pytest.mark.parametrize("row", of_role("near-miss", TAKEN_FOR_IT))
def test_code_that_only_looks_alike_is_not_the_answer(row: dict[str, Any]) -> None:
    code = row["expected"]["code"]
    found = {finding.code for one in explanations(row) for finding in one.findings}

    assert code not in {one.verdict.code for one in explanations(row)}
    assert code.startswith(("OOM", "FRAG", "OUT", "GROW", "OK")) or code not in found
