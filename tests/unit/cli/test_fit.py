"""`gapless fit`: what is refused before anything runs."""

from __future__ import annotations

import pytest

from gapless.cli.main import main

COULD_NOT_RUN = 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["-m", "x"], "the following arguments are required: --cards"),
        (["--cards", "24GiB"], "nothing to run"),
        (["--cards", "24GiB,h1000", "-m", "x"], "--cards: no card is known as 'h1000'"),
        (["--cards", "24GiB", "--gpus", "0", "-m", "x"], "--gpus: it counts from 1"),
        (["--cards", "24GiB", "--steps", "0", "-m", "x"], "--steps: it counts from 1"),
        (["--cards", "24GiB", "--vary", "batch", "-m", "x"], "--vary: 'batch' is not NAME=VALUES"),
        (["--cards", "24GiB", "--vary", "batch=1:8", "-m", "x"], "the command does not say where batch goes"),
        (["--cards", "24GiB", "--margin", "some", "-m", "x"], "--margin"),
    ],
)
def test_what_means_nothing_is_refused(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", *words]) == COULD_NOT_RUN
    printed = capsys.readouterr()
    assert printed.out == ""
    assert complaint in printed.err
