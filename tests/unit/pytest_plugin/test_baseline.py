"""A test that takes more than the committed file says is seen; the file keeps what is not measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gapless.errors import InputError
from gapless.explain import explain
from gapless.pytest_plugin.baseline import Baseline
from gapless.pytest_plugin.isolated import Took
from gapless.units import GIB, MIB
from tests.programs import Program, user

NAME = "test_x.py::test_y"


def took(folder: Path, size_bytes: int) -> Took:
    """One tensor."""
    program = Program(capacity_bytes=1 << 40)
    program.alloc("all", size_bytes, at=user(3))
    return Took(size_bytes, size_bytes, (), (explain(program.open(folder)),))


def test_more_than_the_file_says_is_named(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    first = Baseline.load(path)
    assert first.compare(NAME, took(tmp_path, 14 * GIB)) == []
    first.save()

    same, more = Baseline.load(path), Baseline.load(path)

    assert same.compare(NAME, took(tmp_path, 14 * GIB + 100 * MIB)) == []  # within one per cent
    assert more.compare(NAME, took(tmp_path, 20 * GIB)) == [
        f"allocated 20.00 GiB at most; it was 14.00 GiB ({path})",
        f"the smallest card that it fits is a10; it was t4 ({path})",
    ]


def test_other_tests_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(
        json.dumps(
            {
                "schema": "gapless.baseline/1",
                "tests": {"other": {"allocated_bytes_peak": 5, "smallest_card": "t4"}},
            }
        )
    )
    baseline = Baseline.load(path)
    baseline.compare(NAME, took(tmp_path, GIB))
    baseline.save()

    assert json.loads(path.read_text())["tests"] == {
        "other": {"allocated_bytes_peak": 5, "smallest_card": "t4"},
        NAME: {"allocated_bytes_peak": GIB, "smallest_card": "t4"},
    }
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith(".part")] == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "gapless.baseline/2", "tests": {}}', '{"schema": 1}'])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)

    with pytest.raises(InputError, match="is no baseline of GPU memory"):
        Baseline.load(path)
