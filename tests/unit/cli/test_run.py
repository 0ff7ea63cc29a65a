"""`gapless run`: what is refused before anything runs."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from gapless.cli.main import main
from gapless.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

COULD_NOT_RUN = 2
ALL = ",".join(map(str, range(99)))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "the following arguments are required: --card"),
        (["--card", "24GiB"], "nothing to run"),
        (["--card", "24GiB", "nowhere.py"], "there is no nowhere.py"),
        (["--card", "24GiB", "no-such-program"], "there is no script or program no-such-program"),
        (["--card", "24GiB", "--gpus", "0", "-m", "x"], "--gpus: there must be a card at least"),
        (["--card", "24GiB", "--steps", "0", "-m", "x"], "--steps counts from 1"),
        (["--card", "24GiB", "--rank", "0", "-m", "x"], "--rank: a rank needs the size of the job"),
        (["--card", "24GiB", "--world", "0", "-m", "x"], "--world: a job has a rank at least"),
        (["--card", "24GiB", "--world", "4", "--rank", "1,4", "-m", "x"], "ranks 0 to 3, and not 4"),
        (["--card", "24GiB", "--world", "4", "--rank", "-1", "-m", "x"], "'-1' is no list of ranks"),
        (["--card", "24GiB", "--world", "4", "--rank", "", "-m", "x"], "'' is no list of ranks"),
        (["--card", "24GiB", "--world", "99", "--rank", ALL, "-m", "x"], "99 ranks are too many"),
        (["--card", "24GiB", "--world", "4", "-m", "torch.distributed.run", "x"], "torchrun would start the ranks"),
        (["--card", "24GiB", "--world", "4", "python", "-m", "accelerate.commands.launch"], "accelerate would start"),
        (["--card", "24GiB", "--selected", "2", "x.py"], "2.0 is not a part of a whole, 0 to 1"),
        (["--card", "24GiB", "--context", "24GiB", "x.py"], "a context of 24.00 GiB leaves nothing of the card"),
        (["--card", "24GiB", "--charge", "nccl", "-m", "x"], "--charge: 'nccl' is not LIBRARY=SIZE"),
        (["--card", "24GiB", "--charge", "mpi=1GiB", "-m", "x"], "--charge: 'mpi=1GiB' is not LIBRARY=SIZE"),
        (["--card", "24GiB", "--addresses", "up", "x.py"], "invalid choice: 'up'"),
        (["--card", "a100", "x.py"], "'a100' is short for 2 cards"),
    ],
)
def test_what_means_nothing_is_refused(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *words]) == COULD_NOT_RUN
    printed = capsys.readouterr()
    assert printed.out == ""
    assert complaint in printed.err


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is installed beside Gapless")
def test_without_pytorch_nothing_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('ran')\n")

    assert main(["run", "--card", "24GiB", str(script)]) == COULD_NOT_RUN
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "PyTorch is not installed in this Python" in printed.err


@pytest.mark.parametrize("words", [["-m", "train", "--batch", "8"], ["-c", "print(1)", "-m"], ["--", "train.py"]])
def test_words_after_the_options_are_the_programs(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def keep(words: list[str], example: str) -> list[str]:
        asked.append(words)
        raise InputError("no more")

    monkeypatch.setattr("gapless.cli.run.command_of", keep)

    assert main(["run", "--card", "24GiB", *words]) == COULD_NOT_RUN
    assert asked == [words[1:] if words[0] == "--" else words]
