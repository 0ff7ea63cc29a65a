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


def test_a_fraction_in_the_settings_is_in_force() -> None:
    """4 GiB of 40: the limit that `gapless tune` computes for it, and the same failures."""
    settings = "expandable_segments:True,per_process_memory_fraction:0.1"

    value = json.loads(
        gapless("replay", DEMO, "--conf", settings, "--card", "40GiB", "--format", "json").stdout,
    )

    assert len(value["ooms"]) == 1
    assert 3 << 30 < value["peak"]["reserved_bytes"] <= (4 << 30) + (20 << 20)


def test_a_fraction_without_a_card_is_of_what_there_was() -> None:
    value = json.loads(
        gapless("replay", DEMO, "--conf", "per_process_memory_fraction:0.1", "--format", "json").stdout,
    )

    assert value["peak"]["reserved_bytes"] <= 2350 << 20


def test_a_fraction_of_nothing_known_is_refused() -> None:
    path = ROOT / "tests/fixtures/verdicts/ok000_hit_ordinary_training.pickle.gz"

    done = gapless("replay", path, "--conf", "per_process_memory_fraction:0.5")

    assert (done.returncode, done.stdout) == (2, "")
    assert "--conf: a memory fraction is of the card, and nothing in this recording shows how large" in done.stderr


def test_a_failure_that_was_recorded_is_not_said_to_be_unknown() -> None:
    """With the rules of 2.9 addresses decide whether the demo's request is served; what was recorded is known."""
    done = gapless("replay", DEMO, "--torch", "2.9")

    text = " ".join(done.stdout.split())
    assert "out of memory at event 15629, as recorded" in text
    assert "The recorded run failed there; whether another one would hangs on the addresses that the driver" in text
    assert "is not known" not in text


def test_a_peak_is_there_after_the_event_that_is_named() -> None:
    """`--at event:N` shows the memory before event N."""
    assert "allocated  at most    16.06 GiB  after event 8561\n" in gapless("replay", DEMO).stdout
    shown = [gapless("replay", DEMO, "--at", f"event:{event}").stdout for event in (8561, 8562)]
    assert ["  allocated              16.06 GiB\n" in text for text in shown] == [False, True]


LATE = ROOT / "tests/fixtures/verdicts/rec701_hit_recording_after_the_model.pickle.gz"


def test_under_its_own_settings_memory_starts_as_it_was_recorded() -> None:
    own = json.loads(gapless("replay", LATE, "--format", "json", "--at", "peak").stdout)
    recorded = json.loads(gapless("explain", LATE, "--format", "json", "--at", "peak").stdout)["state"]

    assert own["assumed_bytes"] == 0
    assert own["peak"]["reserved_bytes"] == recorded["reserved_bytes"]
    assert own["state"]["largest_free_block_bytes"] == recorded["largest_free_block_bytes"]


def test_under_others_it_is_said_that_memory_from_before_is_imagined() -> None:
    words = ("replay", LATE, "--conf", "expandable_segments:True")
    other = json.loads(gapless(*words, "--format", "json").stdout)

    assert other["assumed_bytes"] > 0
    text = " ".join(gapless(*words).stdout.split())
    assert "were reserved before the recording began; what of it is in use is allocated anew" in text
    assert "allocated anew" not in gapless("replay", LATE).stdout
