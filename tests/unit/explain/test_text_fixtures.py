"""Codes that settings and logs alone tell of: three texts that have each, and three that only look alike."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gapless.conf import Release, check, parse, read_environment
from gapless.explain.log import explain_log
from gapless.sources.log import scan_log

FILE = Path(__file__).parents[2] / "fixtures" / "texts" / "manifest.json"
ROWS: list[dict[str, Any]] = json.loads(FILE.read_text())["texts"]
LOGS = [row for row in ROWS if "log" in row]
SETTINGS = [row for row in ROWS if "log" not in row]


def each(rows: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=[f"{row['code']} {row['role']}: {row['because']}" for row in rows])


def codes_of(row: dict[str, Any]) -> set[str]:
    """What is found in the text, or in the environment, as the release reads it."""
    release = Release.parse(row.get("torch", "2.14"))
    environment = read_environment(row["environ"], release) if "environ" in row else None
    previous = parse(row["previous"], release, at_load=True).settings if "previous" in row else None
    text = environment.text if environment else row["text"]
    found = check(text, release, environment=environment, uses=row.get("uses", ()), previous=previous)
    return {finding.code for finding in found}


@each(SETTINGS)
def test_settings(row: dict[str, Any]) -> None:
    assert (row["code"] in codes_of(row)) == (row["role"] == "hit")


@each(LOGS)
def test_logs(row: dict[str, Any]) -> None:
    verdict = explain_log(scan_log(io.BytesIO(f"{row['log']}\n".encode()))).verdict

    assert verdict.code == row.get("verdict", row["code"])
    assert (verdict.code == row["code"]) == (row["role"] == "hit")
