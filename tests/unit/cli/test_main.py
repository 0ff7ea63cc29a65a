"""The program as the shell sees it: status, streams, the form of failures."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys

import pytest

import gapless
from gapless import __main__ as entry
from gapless.cli import main as program

GAPLESS = [sys.executable, "-m", "gapless"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*GAPLESS, *arguments], capture_output=True, text=True, timeout=60, check=False)


def test_version_is_the_packages() -> None:
    done = run("--version")

    assert (done.returncode, done.stdout) == (0, f"gapless {gapless.__version__}\n")


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_lists_the_commands(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)

    assert done.returncode == 0
    assert "conf      explain and check PYTORCH_CUDA_ALLOC_CONF" in done.stdout


def test_unknown_command_names_the_nearest() -> None:
    done = run("cnof")

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "gapless: there is no command 'cnof'\n  did you mean gapless conf?\n"


def test_file_instead_of_a_command_is_recognised() -> None:
    done = run(__file__)

    assert done.returncode == 2
    assert f"did you mean gapless explain {__file__}?" in done.stderr


def test_unknown_option_is_one_message_and_a_hint() -> None:
    done = run("conf", "--frobnicate")

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "gapless: unrecognized arguments: --frobnicate",
        "  gapless conf --help describes what it takes",
    ]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("explain", "x", "--formt", "json"), "--format"),
        (("explain", "x", "--formt=json"), "--format"),
        (("tune", "x", "--leavefree", "3GiB"), "--leave-free"),
        (("replay", "x", "--keepgoing"), "--keep-going"),
        (("conf", "--touch", "2.9"), "--torch"),
        (("--verson",), "--version"),
    ],
)
def test_unknown_option_names_the_nearest_one_of_the_command(
    arguments: tuple[str, ...], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(arguments) == 2
    assert f"\n  did you mean {meant}? gapless " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("pinned", "did you mean CONF635 pinned-buffer-overflow or FRAG201 pinned-segments? "),
        ("conf61x", "did you mean CONF610 ignored-by-backend or CONF611 split-limit-with-expandable or CONF612"),
        ("frag21", "did you mean FRAG201? "),
        ("capasity", "did you mean capacity? "),
        ("qqqq", "`gapless rule` lists all"),
        ("x", "`gapless rule` lists all"),
    ],
)
def test_unknown_code_names_the_rules_that_have_it_in_their_name(
    asked: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["rule", asked]) == 2
    assert f"\n  {hint}" in capsys.readouterr().err


@pytest.mark.parametrize("form", [("--format", "json"), ("--format=json",)])
def test_failure_is_json_too_where_json_is_asked_for(form: tuple[str, ...]) -> None:
    done = run("conf", "a:1", "--torch", "nonsense", *form)

    answer = json.loads(done.stdout)
    assert done.returncode == 2
    assert answer["schema"] == "gapless.error/1"
    assert answer["code"] == "conf"
    assert answer["message"] == "'nonsense' is not a PyTorch version"
    assert "gapless: 'nonsense' is not a PyTorch version" in done.stderr


def test_reader_that_goes_away_is_met_quietly() -> None:
    command = shlex.join([*GAPLESS, "conf", "expandable_segments:True"]) + " | true; echo ${PIPESTATUS[0]}"

    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)

    assert done.stdout.strip() in ("0", "141")  # 0 when all was written before the reader went
    assert done.stderr == ""


def test_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "_run", interrupted)

    assert program.main([]) == 128 + signal.SIGINT


def test_mistake_of_ours_is_no_answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(arguments: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(program, "_run", broken)

    assert program.main([]) == 2
    assert "gapless: this is a mistake in Gapless" in capsys.readouterr().err


def test_start_imports_neither_rich_nor_numpy() -> None:
    code = (
        "import sys, gapless.cli.main, gapless.cli.conf; print({'rich', 'numpy', 'gapless._core'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert done.stdout == "set()\n"


def test_options_are_written_in_full() -> None:
    done = run("explain", "nothing-here", "--form", "json")

    assert (done.returncode, done.stdout) == (2, "")
    assert "unrecognized arguments: --form json" in done.stderr


def test_an_interrupt_while_the_program_starts_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "main", interrupted)

    assert entry.main() == 130
