"""Small tensors hold true values, and computing them changes no allocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.virtual.runs import run, same_order_aside_from_frees

if TYPE_CHECKING:
    from pathlib import Path

VALUES = """\
sum 45 over five True [6, 7, 8, 9]
nonzero [8, 9] unique [0, 1, 2]
lengths [5, 8] full False
weight [0.488, 0.488, 0.488]
scale 65536.0
moved [3, 3] top [9, 8]
steps 4
cpu 0.7576
cpu 0.2793
"""
TRAININGS = [("mlp",), ("conv",), ("transformer", "FLASH_ATTENTION"), ("transformer", "MATH")]
TRAININGS += [("transformer", "EFFICIENT_ATTENTION")]


def test_what_a_program_reads_is_what_a_real_card_would_give(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, "values.py")

    assert done.status == 0
    assert done.printed == VALUES
    assert [(one["kind"], one["assumed"]) for one in done.process["assumptions"]] == [
        ("branch", "gradients are finite")
    ]


@pytest.mark.parametrize("words", TRAININGS, ids="-".join)
def test_computing_them_changes_no_allocation(python: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    with_values = run(python, tmp_path, "training.py", *words)
    computed = with_values.events()
    without = run(python, tmp_path, "training.py", *words, options=("--no-small-values",))
    plain = without.events()

    assert with_values.status == without.status == 0
    assert len(computed) > 200
    assert same_order_aside_from_frees(computed) == same_order_aside_from_frees(plain)
    assert with_values.process["devices"] == without.process["devices"]


def test_the_same_script_leaves_the_same_trace(python: Path, tmp_path: Path) -> None:
    first = run(python, tmp_path, "training.py", "transformer").events()
    second = run(python, tmp_path, "training.py", "transformer").events()

    assert len(first) > 200
    assert first == second


def test_the_replay_repeats_every_run_exactly(python: Path, tmp_path: Path) -> None:
    for words in TRAININGS[:3]:
        (explanation,) = run(python, tmp_path, "training.py", *words).process["explanations"]
        replay = explanation["replay"]

        assert replay["exact"] is True
        assert replay["events_matching"] == replay["events_checked"] > 100
