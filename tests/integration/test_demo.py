"""What `make demo` shows: the verdict, the memory before and after the fix, the line to copy, how to record."""

from __future__ import annotations

import re
import sys

import pytest

from tests.integration.run import run
from tests.recordings import ROOT

DEMO = [sys.executable, ROOT / "examples" / "demo.py"]


@pytest.fixture(scope="module")
def lines() -> list[str]:
    done = run(DEMO, COLUMNS="100")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def part(lines: list[str], heading: str) -> list[str]:
    """The lines below a heading, up to the next empty one."""
    begin = next(number for number, line in enumerate(lines) if line.startswith(heading)) + 1
    return lines[begin : lines.index("", begin)]


def test_the_verdict_is_three_lines(lines: list[str]) -> None:
    verdict = part(lines, "FRAG201 pinned-segments")

    assert [line[:6].strip() for line in verdict if line[:6].strip()] == ["What", "Why", "Do"]
    assert "Do    Set expandable_segments:True: the request is served." in "\n".join(verdict)


def test_the_map_marks_what_pins_and_how_long_the_request_is(lines: list[str]) -> None:
    before, after = part(lines, "Before: "), part(lines, "After: ")
    request = next(line for line in before if line.startswith("  request "))
    holes = [len(max(re.findall(r"\.+", line), key=len, default="")) for line in before if line.startswith("  large")]

    assert any("P" in line for line in before)
    assert request.count("^") > max(holes)  # it fits none of them
    assert not any("P" in line for line in after)
    assert next(line for line in after if line.startswith("  request ")) == request  # to one scale


def test_the_fix_has_its_line_to_copy_and_its_grade(lines: list[str]) -> None:
    text = "\n".join(lines)

    assert "  export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" in lines
    assert "proved by exact replay" in text
    assert re.search(r"matches|reproduced exactly", text)


def test_it_says_what_to_do_with_ones_own_run(lines: list[str]) -> None:
    text = "\n".join(lines)
    programs = re.findall(r"(?:^(?:import|torch|\.\.\.|def|    |@).*\n)+", text, re.MULTILINE)

    assert "  .venv/bin/gapless explain FILE" in lines
    assert "_record_memory_history" in text
    assert "_dump_snapshot" in text
    assert [compile(program, "demo", "exec") for program in programs if "torch" in program]
