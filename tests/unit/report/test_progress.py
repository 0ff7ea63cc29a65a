"""The progress line: silent in pipes and for two seconds, gone at the end."""

from __future__ import annotations

import io

import pytest

from gapless.report import progress
from gapless.report.progress import ProgressLine, progress_line


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_pipe_gets_nothing(clock: list[float]) -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as line:
        clock[0] += 10
        line("replaying", 1, 4)

    assert stream.getvalue() == ""


def test_the_first_two_seconds_are_silent(clock: list[float]) -> None:
    screen = Screen()
    with ProgressLine(screen) as line:
        clock[0] += 1.9
        line("replaying", 1, 4)

    assert screen.getvalue() == ""


def test_a_long_step_is_shown_and_taken_away(clock: list[float]) -> None:
    screen = Screen()
    with ProgressLine(screen) as line:
        clock[0] += 3
        line("replaying", 1, 4)
        shown = "replaying [######..................] 1 of 4, about 9 s left"
        assert screen.getvalue() == f"\r{shown}"

    assert screen.getvalue() == f"\r{shown}\r{' ' * len(shown)}\r"


def test_the_line_is_not_written_more_than_ten_times_a_second(clock: list[float]) -> None:
    screen = Screen()
    line = ProgressLine(screen)
    for done in range(100):
        clock[0] = 103 + done * 0.01
        line("replaying", done, 100)

    assert screen.getvalue().count("\r") == 10


def test_a_shorter_line_covers_the_longer(clock: list[float]) -> None:
    screen = Screen()
    line = ProgressLine(screen)
    clock[0] += 3
    line("a long name of a step", 1, 0)
    clock[0] += 1
    line("short", 1, 0)

    assert screen.getvalue() == "\ra long name of a step ...\rshort ...                "


@pytest.mark.parametrize(
    ("done", "total", "line"),
    [
        (0, 4, "x [........................] 0 of 4"),
        (4, 4, "x [########################] 4 of 4, about 0 s left"),
        (9, 4, "x [########################] 9 of 4, about 0 s left"),
        (1, 0, "x ..."),
    ],
)
def test_lines_at_the_ends(done: int, total: int, line: str) -> None:
    assert progress_line("x", done, total, 4.0) == line


def test_the_time_left_is_that_of_the_step(clock: list[float]) -> None:
    screen = Screen()
    line = ProgressLine(screen)
    clock[0] += 90
    line("reading", 10, 10)
    clock[0] += 1
    line("replaying", 1, 4)

    assert screen.getvalue().endswith("1 of 4, about 3 s left")
