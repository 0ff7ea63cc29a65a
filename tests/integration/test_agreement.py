"""What tune and explain say of a setting, gapless replay says too, without being told the card or the limit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gapless.cli.main import main
from tests.attacks import ATTACKS
from tests.recordings import ROOT

_SERVES, _EACH = ("survives", "serves_request"), 3
"""Outcomes that promise something, and how many settings of each outcome are held against a replay."""
FOLDER = ROOT / "tests" / "fixtures" / "verdicts"
FAILED = [
    row
    for row in json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))["recordings"]
    if row["expected"]["verdict"] and row["expected"]["verdict"].startswith(("OOM", "FRAG", "OUT", "GROW", "PEAK"))
]


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What a command prints."""
    assert main([*arguments, "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def contradictions(capsys: pytest.CaptureFixture[str], path: Path, found: dict[str, Any]) -> list[str]:
    """Settings of which a replay says otherwise.

    Args:
        capsys: Reads what is printed.
        path: The recording.
        found: What tune says of it.
    """
    critical, wrong = found["critical"]["event"], []
    settings = [one for one in found["candidates"] if one["kind"] == "setting" and one["conf"] is not None]
    chosen = [one for one in settings if one["outcome"] in _SERVES][:_EACH]
    chosen += [one for one in settings if one["outcome"] == "fails"][:_EACH]
    where = ["--device", str(found["input"]["device"]), "--keep-going"]
    if not found["critical"]["failed"]:  # nothing shows how large the card is
        where += ["--card", str(found["card"]["capacity_bytes"])]
    for one in chosen:
        replayed = answer(capsys, "replay", str(path), "--conf", one["conf"], *where)
        failed = [failure["event"] for failure in replayed["ooms"] if not failure["was_recorded"]]
        failed += [failure["event"] for failure in replayed["ooms"] if failure["event"] == critical]
        if bool(failed) == (one["outcome"] in _SERVES):
            wrong.append(f"{one['conf']}: {one['outcome']} ({one['grade']}), replay fails at {failed}")
    return wrong


def tried_quickly(capsys: pytest.CaptureFixture[str], path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What tune says; margins and smallest cards, most of the work, say nothing of outcomes."""
    monkeypatch.setattr("gapless.tune.engine.measure_cards", lambda case, tried, on_done=None: list(tried))
    return answer(capsys, "tune", str(path))


@pytest.mark.parametrize("name", ATTACKS)
def test_replay_agrees_where_one_reason_looks_like_another(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    path = ATTACKS[name]().write(tmp_path / "snapshot.pickle")
    found = answer(capsys, "tune", str(path))
    fixes = answer(capsys, "explain", str(path))["fixes"]
    outcomes = {(one["kind"], one["change"]): one["outcome"] for one in found["candidates"]}

    assert contradictions(capsys, path, found) == []
    assert [fix for fix in fixes if outcomes[fix["kind"], fix["change"]] != fix["outcome"]] == []


@pytest.mark.parametrize("row", FAILED, ids=[row["name"] for row in FAILED])
def test_replay_agrees_on_recordings_of_a_virtual_card(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, row: dict[str, Any]
) -> None:
    path = FOLDER / row["file"]

    assert contradictions(capsys, path, tried_quickly(capsys, path, monkeypatch)) == []


@pytest.mark.parametrize("name", ["limited", "limited in pieces", "lowered"])
def test_a_limit_that_lies_in_a_range_is_one_everywhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    path = ATTACKS[name]().write(tmp_path / "snapshot.pickle")
    explained, tuned = answer(capsys, "explain", str(path)), answer(capsys, "tune", str(path))
    limits = explained["findings"][0]["measurements"]
    least, most = limits["limit_bytes_least"], limits["limit_bytes_most"]

    assert least < most
    assert (tuned["card"]["limit_bytes"], tuned["card"]["limit_bytes_most"]) == (least, most)
    assert main(["replay", str(path)]) == 0
    assert "(a memory limit between " in capsys.readouterr().out


def test_a_replay_that_hangs_on_the_limit_does_not_claim_to_know(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = ATTACKS["limited in pieces"]().write(tmp_path / "snapshot.pickle")

    replayed = answer(capsys, "replay", str(path), "--conf", "expandable_segments:True")
    main(["replay", str(path), "--conf", "expandable_segments:True"])

    assert replayed["fails"] == "unknown"
    assert "The recorded run failed there; whether another one would hangs on where the limit lies." in " ".join(
        capsys.readouterr().out.split()
    )
