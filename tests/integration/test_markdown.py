"""Markdown says all that text does: what grows, what else was found, the risks, and how far to trust it."""

from __future__ import annotations

import pytest

from tests.integration.run import gapless
from tests.recordings import ROOT

DEMO = ROOT / "examples/demo_out_of_memory.pickle.gz"
VERDICTS = ROOT / "tests" / "fixtures" / "verdicts"


def test_growth_risks_and_trust_are_there() -> None:
    lines = gapless("explain", DEMO, "--format", "markdown").stdout.splitlines()

    grown = lines.index("| grows by a step | steps | place |") + 2
    assert lines[grown] == "| 21.55 MiB | 14 | `demo_train.py:78 evaluate` |"
    assert "- warning GROW301 growth: Memory in use grows by 21.55 MiB a step, allocated at demo_train.py:78." in lines
    assert lines[-1] == (
        "Replay: 10,579 of 10,579 recorded decisions are reproduced exactly with the rules of PyTorch 2.14."
    )
    (row,) = (line for line in lines if line.startswith("| set expandable_segments:True |"))
    names = row.split(" | ")[-1].removesuffix(" |").split(", ")
    assert names
    assert [sum(line.startswith(f"- {name}: ") for line in lines) for name in names] == [1] * len(names)


@pytest.mark.parametrize(
    ("name", "code", "doubt"),
    [
        ("rec704_hit_history_with_a_hole", "REC704", "That is no proof: "),
        ("rec705_hit_rounding_switched_on_between_steps", "REC705", "Answers about other settings carry that doubt."),
        ("rec706_hit_never_switched_on", "REC706", "Replay: this file holds no events, so nothing could be checked."),
    ],
)
def test_doubts_are_there(name: str, code: str, doubt: str) -> None:
    path = VERDICTS / f"{name}.pickle.gz"
    text, markdown = (gapless("explain", path, "--format", form).stdout for form in ("text", "markdown"))

    doubts = text.rpartition("\nReplay: ")[2].split()
    assert markdown.split()[-len(doubts) :] == doubts
    assert doubt in markdown
    assert code in markdown


def test_on_a_card_where_a_run_that_did_not_fail_fails_outcomes_are_those_of_the_recorded_run() -> None:
    path = VERDICTS / "ok000_hit_ordinary_training.pickle.gz"
    text, markdown = (
        gapless("explain", path, "--card", "1500MiB", "--format", form).stdout for form in ("text", "markdown")
    )

    assert "Nothing failed in the recorded run. With " in markdown
    assert "| serves all recorded |" in markdown
    assert "serves the request" not in text + markdown


def test_what_pins_and_how_much_is_left_are_there() -> None:
    lines = gapless("explain", DEMO, "--format", "markdown").stdout.splitlines()

    pinned = lines.index("| pins | segments | since | place |") + 2
    assert lines[pinned].startswith("| 49 blocks | 8 segments, ")
    assert lines[pinned].endswith(" | `demo_train.py:66 train` |")
    head = "| change | outcome | grade | reserved at most | smallest card | margin | risks |"
    assert lines[lines.index(head) + 2].split(" | ")[3:6] == ["18.23 GiB", "16.37 GiB", "7.13 GiB"]


def test_a_limit_is_not_called_the_capacity() -> None:
    path = VERDICTS / "oom103_hit_fraction_set_by_the_program.pickle.gz"
    text, markdown = (gapless("explain", path, "--format", form).stdout for form in ("text", "markdown"))

    (row,) = (line for line in markdown.splitlines() if line.startswith("| may reserve |"))
    assert " to " in row
    assert row.split("|")[2].strip() in text
    assert "capacity" not in markdown
