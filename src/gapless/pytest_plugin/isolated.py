"""A marked test in a process of its own on the pretend card, and what came of it as pytest's reports."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from gapless.errors import GaplessError
from gapless.explain import ExplainOptions, explain
from gapless.pytest_plugin.inside import FOLDER, LEFT, REPEATS, REPORTS
from gapless.pytest_plugin.limits import complaints
from gapless.pytest_plugin.marker import limits_of
from gapless.recording import open_recordings
from gapless.virtual import launch
from gapless.virtual.cards import virtual_card
from gapless.virtual.installation import find_torch

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.pytest_plugin.baseline import Baseline
    from gapless.pytest_plugin.marker import Limits

_CRASHED = "the process of this test ended with status {status} before it reported\n{printed}"


@dataclass(frozen=True)
class Took:
    """What a test took of the worst of its cards."""

    reserved_bytes_peak: int
    allocated_bytes_peak: int
    left: tuple[int, ...]
    """Bytes allocated after each call of its function."""
    explanations: tuple[Explanation, ...]
    """Of each device that it used; at the failure, or at the peak."""


def reports_of(item: pytest.Item, baseline: Baseline | None) -> list[pytest.TestReport]:
    """Run it; the reports of its setup, call and teardown, the call's failing where it took too much.

    Where PyTorch cannot run on a pretend card the test is skipped, as one is that needs a GPU.
    """
    try:
        limits = limits_of(item)
    except GaplessError as error:
        return [_report(item, "failed", str(error))]
    try:
        find_torch()
    except GaplessError as error:
        path, line, _ = item.location
        return [_report(item, "skipped", (path, (line or 0) + 1, f"Skipped: {error}"))]
    return _run(item, limits, baseline)


def _run(item: pytest.Item, limits: Limits, baseline: Baseline | None) -> list[pytest.TestReport]:
    with tempfile.TemporaryDirectory(prefix="gapless-") as name, (Path(name) / "printed").open("w+b") as printed:
        folder = Path(name) / "run"
        folder.mkdir()
        env = {**os.environ, FOLDER: str(folder), REPEATS: str(limits.repeats), "PYTEST_ADDOPTS": ""}
        if limits.conf is not None:
            env["PYTORCH_CUDA_ALLOC_CONF"] = env["PYTORCH_ALLOC_CONF"] = limits.conf
        ended = launch.run(
            _command(item), virtual_card(limits.card, limits.gpus), folder, env=env,
            stdout=printed.fileno(), stderr=printed.fileno(),
        )  # fmt: skip
        reports = _reports(item, folder / REPORTS)
        if not any(report.when == "call" or report.failed or report.skipped for report in reports):
            printed.seek(0)
            said = printed.read().decode("utf-8", "replace")
            reports.append(_report(item, "failed", _CRASHED.format(status=ended.status, printed=said)))
        took = _took(ended, folder / LEFT, limits)
    call = next((report for report in reports if report.when == "call"), None)
    if call is not None:
        found = complaints(took, limits, passed=call.passed)
        if baseline is not None and call.passed and not found:
            found = baseline.compare(item.nodeid, took)
        _add(call, found)
    return reports


def _command(item: pytest.Item) -> list[str]:
    """Pytest for this test alone, without what would report it twice."""
    config = item.config
    words = [sys.executable, "-m", "pytest", item.nodeid, "--rootdir", str(config.rootpath), "-p", "no:cacheprovider"]
    words += ["-p", "no:xdist", "-p", "no:randomly", "--no-header", "-q"]
    return words + (["-c", str(config.inipath)] if config.inipath else [])


def _reports(item: pytest.Item, path: Path) -> list[pytest.TestReport]:
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    hook = item.config.hook.pytest_report_from_serializable
    reports: list[pytest.TestReport] = [hook(config=item.config, data=json.loads(line)) for line in lines]
    for report in reports:
        if isinstance(report.longrepr, list):  # where it was skipped, and why; JSON has no tuples
            report.longrepr = (report.longrepr[0], report.longrepr[1], report.longrepr[2])
    return reports


def _took(ended: launch.Ended, left: Path, limits: Limits) -> Took:
    devices = [device for process in ended.processes for device in process["devices"]]
    options = ExplainOptions(recorded_card_bytes=limits.card.capacity_bytes, card_total_bytes=limits.card.total_bytes)
    snapshots = [process["snapshot"] for process in ended.processes if process["snapshot"]]
    recordings = [recording for path in snapshots for recording in open_recordings(path) if recording.event_count]
    return Took(
        max((device["reserved_bytes_peak"] for device in devices), default=0),
        max((device["allocated_bytes_peak"] for device in devices), default=0),
        tuple(json.loads(left.read_text(encoding="utf-8"))) if left.exists() else (),
        tuple(explain(recording, options) for recording in recordings),
    )


def _add(report: pytest.TestReport, found: list[str]) -> None:
    """Fail a report with what was too much, or add why memory ran out to one that failed."""
    if not found:
        return
    text = "\n\n".join(found)
    if report.passed:
        report.outcome = "failed"
        report.longrepr = text
    else:
        report.sections.append(("GPU memory", text))


def _report(
    item: pytest.Item, outcome: Literal["failed", "skipped"], why: str | tuple[str, int, str]
) -> pytest.TestReport:
    return pytest.TestReport(item.nodeid, item.location, {}, outcome, why, "call")
