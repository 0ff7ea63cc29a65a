"""The table of benchmarks says exactly what was measured."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from benchmarks import __main__ as runner
from benchmarks.result import Result, Unavailable

FAST = Result(work="read", unit="s", ours=0.5, peer="pickle", theirs=3.0, target=5)
SLOW = Result(work="replay", unit="ns/op", ours=100, peer="PyTorch", theirs=400, target=5)
ALONE = Result(work="explain", unit="s", ours=0.25, target=0.5)


def lines_of(results: list[Result]) -> list[list[str]]:
    """Cells of each row of the printed table."""
    out = io.StringIO()
    Console(file=out, width=140).print(runner.table_of(results))
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.getvalue().splitlines() if "│" in line]


def test_table_shows_both_figures_and_the_verdict() -> None:
    assert lines_of([FAST, SLOW, ALONE]) == [
        ["read", "0.5 s", "pickle", "3 s", "6.0 x", "5 x", "reached"],
        ["replay", "100 ns/op", "PyTorch", "400 ns/op", "4.0 x", "5 x", "MISSED"],
        ["explain", "0.25 s", "-", "-", "-", "0.5 s", "reached"],
    ]


def test_a_figure_over_its_target_is_missed() -> None:
    assert not Result(work="explain", unit="s", ours=0.6, target=0.5).reached


@pytest.mark.parametrize(("results", "status"), [([FAST, ALONE], 0), ([FAST, SLOW], 1)])
def test_status_tells_whether_targets_are_reached(
    results: list[Result], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "benchmarks_named", lambda parts: ["a"])
    monkeypatch.setattr(runner, "run", lambda name: results)

    assert runner.main([]) == status


def test_what_is_not_there_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(name: str) -> list[Result]:
        if name == "a":
            raise Unavailable("no oracle")
        return [FAST]

    monkeypatch.setattr(runner, "benchmarks_named", lambda parts: ["a", "b"])
    monkeypatch.setattr(runner, "run", run)

    assert runner.main([]) == 0
    assert "left out: no oracle" in capsys.readouterr().err


def test_an_unknown_name_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert runner.main(["nonsense"]) == 2
    assert capsys.readouterr().err == "no benchmark is named like nonsense\n"
