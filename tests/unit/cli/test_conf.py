"""`gapless conf` from the shell's side; what it says is tested with the checks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gapless.cli.main import main
from tests.schemas import validate


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


def text_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["conf", *arguments]) == 0
    return capsys.readouterr().out


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    main(["conf", *arguments, "--format", "json"])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    validate(answer)
    return answer


def test_refused_settings_are_marked_and_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    lines = text_of(capsys, "max_split_size_mb:10", "--torch", "2.9").splitlines()

    assert lines[:4] == [
        "PyTorch 2.9 refuses these settings, and every use of the GPU fails.",
        "",
        "  max_split_size_mb:10",
        "                    ^",
    ]
    assert lines[-2:] == ["Corrected, to copy:", "  export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:21"]


def test_each_option_is_explained_and_the_line_is_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of(capsys, "roundup_power2_divisions:[256:2,512:4]", "--torch", "2.13")

    assert "Requests are rounded up to one of so many equal steps" in text
    assert text.endswith("To copy:\n  export PYTORCH_CUDA_ALLOC_CONF='roundup_power2_divisions:[256:2,512:4]'\n")


def test_assumed_release_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "PyTorch 2.14 is assumed; --torch VERSION asks for another." in text_of(capsys, "backend:native")


def test_assignment_is_taken_as_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json_of(capsys, "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")

    assert answer["input"]["text"] == "expandable_segments:True"


def test_environment_is_read_without_a_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTORCH_ALLOC_CONF", "garbage_collection_threshold:0.8")
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:256")

    answer = json_of(capsys)

    assert answer["input"]["source"] == "PYTORCH_CUDA_ALLOC_CONF"
    assert answer["variables"]["ignored"] == ["PYTORCH_ALLOC_CONF"]
    assert answer["settings"]["max_split_size"] == 256 << 20
    assert [finding["code"] for finding in answer["findings"]] == ["CONF618"]


def test_no_settings_at_all_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert text_of(capsys).splitlines()[0] == "No settings: PyTorch 2.14 runs with its defaults."


def test_change_at_run_time_is_checked_against_what_was_before(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json_of(capsys, "expandable_segments:False", "--after", "expandable_segments:True,max_split_size_mb:128")

    assert answer["input"]["at_run_time"] is True
    assert [finding["code"] for finding in answer["findings"]] == ["CONF641"]
    assert answer["settings"]["max_split_size"] is None


@pytest.mark.parametrize(
    ("what", "status"),
    [("error", 0), ("warning", 1), ("info", 1), ("CONF611", 1), ("conf611", 1), ("Warning", 1), ("CONF601", 0)],
)
def test_fail_on_makes_it_a_check(what: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    text = "expandable_segments:True,max_split_size_mb:128"

    assert main(["conf", text, "--fail-on", what]) == status
    assert "CONF611" in capsys.readouterr().out


def test_unknown_fail_on_and_use_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conf", "a:1", "--fail-on", "oops"]) == 2
    assert main(["conf", "a:1", "--uses", "oops"]) == 2
    assert "give error, warning, info or a code; `gapless rule` lists all" in capsys.readouterr().err


def test_control_characters_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of(capsys, "\x1b[31mred\x07:1")

    assert "\x1b" not in text
    assert "\x07" not in text
    assert "No line to copy" in text


def test_colour_is_for_terminals_only(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    main(["conf", "expandable_segments:yes"])
    coloured = capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["conf", "expandable_segments:yes"])

    assert "\x1b[1;31merror CONF603\x1b[0m" in coloured
    assert "\x1b" not in capsys.readouterr().out


def test_later_release_is_read_as_the_newest_known(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json_of(capsys, "expandable_segments:True", "--torch", "2.15.0")

    assert answer["input"]["torch"] == "2.14"
    assert answer["input"]["note"] == "PyTorch 2.15 is not known yet; it is read as 2.14"


def test_a_switch_that_is_off_is_explained_as_off(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json_of(capsys, "expandable_segments:False")

    assert answer["options"][0]["meaning"].startswith("Memory comes from the driver in segments")


def test_options_beside_the_drivers_allocator_are_ignored_and_endanger_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    conf = "expandable_segments:True,max_split_size_mb:64,backend:cudaMallocAsync,pinned_use_cuda_host_register:True"

    answer = json_of(capsys, conf, "--torch", "2.14")
    text = text_of(capsys, conf, "--torch", "2.14")

    assert [option["state"] for option in answer["options"]] == ["ignored", "ignored", "read", "read"]
    assert [finding["code"] for finding in answer["findings"]] == ["CONF610", "CONF617"]
    assert "ignores expandable_segments, max_split_size_mb, and" in answer["findings"][0]["message"]
    assert answer["left"] == ["CONF610"]
    assert f"To copy; CONF610 still holds:\n  export PYTORCH_CUDA_ALLOC_CONF={conf}\n" in text


def test_what_is_advised_at_run_time_is_no_danger_itself(capsys: pytest.CaptureFixture[str]) -> None:
    before = ("--after", "expandable_segments:True,max_split_size_mb:128")

    answer = json_of(capsys, "expandable_segments:False", *before)
    (finding,) = answer["findings"]

    assert finding["code"] == "CONF641"
    assert finding["hint"].startswith("change nothing at run time")
    kept = json_of(capsys, "expandable_segments:False,max_split_size_mb:128", *before)
    assert "CONF642" in [finding["code"] for finding in kept["findings"]]


def test_what_can_be_kept_safely_is_advised_to_be_kept(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json_of(capsys, "expandable_segments:False", "--after", "garbage_collection_threshold:0.8")

    assert [finding["hint"] for finding in answer["findings"]] == ["add garbage_collection_threshold:0.8 to the call"]
