"""`gapless replay` as a shell runs it."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING

from tests.integration.run import gapless
from tests.integration.small import snapshot
from tests.recordings import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DEMO = ROOT / "examples/demo_out_of_memory.pickle.gz"


def test_a_failure_fails_again_where_no_card_is_given() -> None:
    """PyTorch could have 23.50 GiB when the request failed."""
    text = gapless("replay", DEMO).stdout
    value = json.loads(gapless("replay", DEMO, "--format", "json").stdout)

    assert "with the 23.50 GiB that PyTorch could have when a request failed" in text
    assert [failure["event"] for failure in value["ooms"]] == [15629]


def test_a_setting_is_tried_in_as_much_memory_as_there_was() -> None:
    done = gapless("replay", DEMO, "--conf", "expandable_segments:True", "--format", "json")

    assert json.loads(done.stdout)["ooms"] == []


def test_a_recording_without_a_failure_has_no_end() -> None:
    path = ROOT / "tests/fixtures/verdicts/ok000_hit_ordinary_training.pickle.gz"

    assert "on a card without end" in gapless("replay", path).stdout


def test_a_file_that_contradicts_itself_is_no_proof(tmp_path: Path) -> None:
    value = snapshot()
    value["segments"] = []
    path = tmp_path / "bare.pickle"
    path.write_bytes(pickle.dumps(value))

    text, answer = gapless("replay", path).stdout, json.loads(gapless("replay", path, "--format", "json").stdout)

    replayed = answer["replay"]
    assert (replayed["exact"], replayed["events_matching"]) == (False, replayed["events_checked"])
    assert text.startswith(f"matches {replayed['events_checked']} of")
    assert "That is no proof: " in " ".join(text.split())
    assert "cannot have happened as recorded (REC704)" in " ".join(text.split())
