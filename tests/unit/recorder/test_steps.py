"""Rows of steps."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from gapless.recorder.files import STEPS, Files
from gapless.recorder.steps import Steps
from tests.unit.recorder.fake_torch import GIB, FakeTorch

if TYPE_CHECKING:
    from pathlib import Path


class Case:
    """A fake PyTorch, and the rows that were written of it."""

    def __init__(self, folder: Path, torch: FakeTorch, reset_peaks: bool = False) -> None:
        self.files = Files(str(folder), "rank0")
        self.steps = Steps(torch, self.files, {"row": "process"}, reset_peaks)

    def step(self, *optimizers: object) -> None:
        for optimizer in optimizers:
            self.steps.before_optimizer(optimizer)
            self.steps.after_optimizer(optimizer)

    def rows(self) -> list[dict[str, Any]]:
        self.steps.flush()
        return [json.loads(line) for line in self.files.path(STEPS).read_text().splitlines()][1:]


def test_a_row_holds_what_pytorch_and_the_driver_say(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeTorch())
    case.step("a")
    (row,) = case.rows()

    assert row["allocated_bytes"] == GIB
    assert row["reserved_bytes_peak"] == 3 * GIB
    assert row["outside_bytes"] == GIB, "3 GiB are taken of the device, 2 of them by PyTorch"
    assert (row["retries"], row["ooms"]) == (1, 2)
    assert row["free_block_bytes_largest"] == 7
    assert row["phase"] is None


def test_several_optimizers_make_one_step(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeTorch())
    for _ in range(3):
        case.step("generator", "critic")
    case.step("critic", "critic")

    assert [row["step"] for row in case.rows()] == [1, 2, 3, 4, 5]


def test_each_device_in_use_has_a_row(tmp_path: Path) -> None:
    torch = FakeTorch(devices=3)
    torch.peak[1] = 0
    case = Case(tmp_path, torch)
    case.step("a")

    assert [row["device"] for row in case.rows()] == [0, 2]


def test_the_phase_is_that_in_which_the_peak_rose(tmp_path: Path) -> None:
    torch = FakeTorch()
    case = Case(tmp_path, torch)
    case.step("a")
    torch.peak[0] += 1
    case.step("a")
    case.steps.before_optimizer("a")
    torch.peak[0] += 1
    case.steps.after_optimizer("a")
    case.step("a")

    assert [row["phase"] for row in case.rows()] == [None, "gradients", "optimizer", None]


def test_the_least_that_was_free_is_kept(tmp_path: Path) -> None:
    torch = FakeTorch()
    case = Case(tmp_path, torch)
    for free in (5, 3, 4):
        torch.free_bytes = free
        case.step("a")

    assert [row["device_free_bytes_least"] for row in case.rows()] == [5, 3, 3]


def test_peaks_are_reset_only_where_that_was_asked_for(tmp_path: Path) -> None:
    left, reset = FakeTorch(), FakeTorch()
    Case(tmp_path / "left", left).step("a")
    Case(tmp_path / "reset", reset, reset_peaks=True).step("a")

    assert (left.resets, reset.resets) == ([], [0])


def test_a_step_inside_a_graph_that_is_captured_has_no_row(tmp_path: Path) -> None:
    torch = FakeTorch()
    torch.is_capturing = True
    case = Case(tmp_path, torch)
    case.step("a")

    assert case.rows() == []


def test_rows_of_very_long_runs_are_thinned_out(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeTorch())
    case.steps.count = 99_998
    case.steps._counts[id("a")] = 99_998
    for _ in range(13):
        case.step("a")

    assert [row["step"] for row in case.rows()] == [99_999, 100_000, 100_010]


def test_the_last_rows_are_written_at_the_end(tmp_path: Path) -> None:
    case = Case(tmp_path, FakeTorch())
    for _ in range(3):
        case.step("a")
    case.steps.close()

    assert len(case.files.path(STEPS).read_text().splitlines()) == 1 + 3


def test_the_first_row_that_cannot_be_written_is_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(tmp_path, FakeTorch())
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, case.steps._file or -1)
    os.close(full)
    for _ in range(3):
        case.step("a")
        case.steps.flush()
        assert case.steps._file is None
    case.steps.close()

    assert capsys.readouterr().err.count("No space left on device") == 1
    assert case.rows() == []
