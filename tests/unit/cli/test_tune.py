"""`gapless tune` from the shell's side; what it says is tested in tests/unit/tune."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gapless.cli.main import main
from tests.recordings import ROOT, each_shared_snapshot
from tests.schemas import validate


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    status = main(["tune", *arguments, "--format", "json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == 0
    validate(answer)
    return answer


@each_shared_snapshot(where=lambda path: path.name.startswith("frag_pinned_segments_oom"))
def test_the_line_to_copy_comes_first(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(path)]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("export PYTORCH_CUDA_ALLOC_CONF=")
    assert any("serves the request  proved" in line and "expandable_segments:True" in line for line in lines)


@each_shared_snapshot(
    where=lambda path: path.name.startswith(("frag_pinned_segments_oom", "fraction_oom", "train_mlp"))
)
def test_json_follows_its_schema(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = json_of(capsys, str(path), "--card", "24GiB")

    assert answer["card"]["capacity_bytes"] == 24 << 30
    assert len(answer["candidates"]) == len(answer["smallest_card_bytes"]) > 0


@each_shared_snapshot(where=lambda path: path.name.startswith("frag_pinned_segments_oom"))
def test_a_call_stands_below_the_settings_that_need_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["tune", str(path), "--card", "30GiB", "--leave-free", "6GiB", "--torch", "2.9"]

    assert main(arguments) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128"
    assert lines[1] == "torch.cuda.set_per_process_memory_fraction(0.8)  # in the program, before it allocates"


@each_shared_snapshot(where=lambda path: path.name.startswith("train_mlp_adam"))
def test_where_nothing_needs_changing_there_is_no_line_to_copy(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(path)]) == 0
    text = capsys.readouterr().out
    answer = json_of(capsys, str(path))

    assert text.splitlines()[0].startswith("On this card nothing needs changing: the recorded run fits")
    assert "export" not in text
    assert (answer["needs_change"], answer["candidates"][0]["kind"]) == (False, "none")


@each_shared_snapshot(where=lambda path: path.name.startswith("train_7b_bf16"))
def test_a_change_that_is_not_only_settings_is_said_before_them(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A larger card, on which a fraction leaves room."""
    assert main(["tune", str(path), "--card", "24GiB", "--leave-free", "2GiB"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "On this card no setting that was tried helps. What helps:"
    assert lines[1].startswith("a card on which PyTorch may reserve 84.98 GiB beside the 2.00 GiB that stay free, like")
    assert lines[2] == "export PYTORCH_CUDA_ALLOC_CONF=per_process_memory_fraction:0.98"


def test_help_says_which_device_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "--help"]) == 0

    assert "the first that failed, else the fullest" in " ".join(capsys.readouterr().out.split())


@each_shared_snapshot(where=lambda path: path.name.startswith("no_history"))
def test_what_cannot_be_tuned_is_said_in_one_message(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", str(path)]) == 2

    assert "this recording holds no events" in capsys.readouterr().err


@each_shared_snapshot(where=lambda path: path.name.startswith("train_mlp_adam"))
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--card", "h20"), "no card is known as 'h20'"),
        (("--at", "oom"), "no request failed on device 0 in this recording"),
        (("--at", "event:99999999"), "event 99999999 is asked for"),
        (("--at", "noon"), "'noon' is not a moment"),
        (("--card", "1GiB", "--leave-free", "2GiB"), "2.00 GiB cannot stay free on a card of 1.00 GiB"),
    ],
)
def test_wrong_arguments_end_in_one_message(
    path: Path, arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", str(path), *arguments]) == 2
    assert message in capsys.readouterr().err


@each_shared_snapshot(where=lambda path: path.name.startswith("leak_keeps_graph"))
def test_redaction_leaves_no_path(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = json_of(capsys, str(path), "--redact")

    text = json.dumps(told)
    assert "train.py" not in text
    assert path.name not in text
    assert any("let go after each step what file-" in fix["change"] for fix in told["candidates"])


def test_json_names_the_candidate_that_text_recommends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "examples/demo_out_of_memory.pickle.gz")

    answer = json_of(capsys, path)
    main(["tune", path])
    lines = capsys.readouterr().out.splitlines()

    assert answer["recommended"] is not None
    named = answer["candidates"][answer["recommended"]]
    assert lines[0] == f"export PYTORCH_CUDA_ALLOC_CONF={named['conf']}"
    assert any(line.startswith(">") and named["conf"] in line for line in lines)
