"""`gapless record`: what is refused before anything runs, and what a command without a GPU leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.cli.main import main

COULD_NOT_RUN = 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "nothing to run\n  gapless record train.py, or -m package, or torchrun ..."),
        (["nowhere.py"], "there is no nowhere.py"),
        (["--threshold", "2", "-c", "pass"], "threshold is 2.0; it is a part of a whole, 0 to 1"),
        (["--max-events", "0", "-c", "pass"], "max_events is 0; it counts from 1"),
        (["--out", "", "-c", "pass"], "a folder is needed"),
    ],
)
def test_what_means_nothing_is_refused(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", *words]) == COULD_NOT_RUN
    printed = capsys.readouterr()
    assert printed.out == ""
    assert complaint in printed.err


def test_a_command_is_told_where_to_record(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = "import os; print(os.environ['GAPLESS_RECORD'], os.environ['GAPLESS_RECORD_OPTIONS']); raise SystemExit(5)"

    assert main(["record", "--out", str(tmp_path / "out"), "--max-events", "9", "--reset-peaks", "-c", code]) == 5
    printed = capfd.readouterr()
    assert printed.out == (
        f"{tmp_path / 'out'} max_events:9,snapshot_seconds:30.0,threshold:0.0,signal:auto,reset_peaks:True\n"
    )
    assert printed.err.startswith("gapless: nothing was recorded: no process used a GPU with PyTorch")


def test_a_folder_is_named_by_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    code = "import os, sys; sys.exit('gapless-recording-2' not in os.environ['GAPLESS_RECORD'])"

    assert main(["record", "-c", code]) == 0
    assert list(tmp_path.iterdir()) == []
