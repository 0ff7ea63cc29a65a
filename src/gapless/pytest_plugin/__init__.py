"""A plugin for pytest: a test runs on a pretend card, and fails with the explanation where it needs too much memory.

    @pytest.mark.gpu_memory(card="24GiB", max_reserved="20GiB")
    def test_a_step_fits() -> None: ...

Each marked test runs in a process of its own, for PyTorch finds the card when it is imported.

    marker      what a test may take, as its marker says
    isolated    the test in its own process, and what came of it
    inside      what happens in that process: repeats, and what each left
    limits      whether that was too much
    baseline    what it took last time, in a file that is committed
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gapless.pytest_plugin import inside

if TYPE_CHECKING:
    import pytest

    from gapless.pytest_plugin.baseline import Baseline

MARKER = "gpu_memory"
_KEY = "gapless_baseline"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where the baseline is, and whether it is written anew."""
    group = parser.getgroup("gapless", "GPU memory on a pretend card")
    group.addoption("--gpu-memory-baseline", metavar="FILE", help="compare marked tests with what FILE says they took")
    group.addoption(
        "--gpu-memory-update", action="store_true", help="write into that file what marked tests take today"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", f"{MARKER}(card, max_reserved, max_allocated, repeats, ...): on a pretend card")
    inside.configure(config)
    path = config.getoption("--gpu-memory-baseline")
    if path and not inside.is_inside():
        from gapless.pytest_plugin.baseline import Baseline  # noqa: PLC0415  (every pytest loads this module)

        setattr(config, _KEY, Baseline.load(Path(path)))


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a marked test elsewhere, and report it here."""
    if inside.is_inside() or item.get_closest_marker(MARKER) is None:
        return None
    from gapless.pytest_plugin.isolated import reports_of  # noqa: PLC0415

    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in reports_of(item, getattr(item.config, _KEY, None)):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_unconfigure(config: pytest.Config) -> None:
    """Write the baseline where that was asked for."""
    baseline: Baseline | None = getattr(config, _KEY, None)
    if baseline is not None and config.getoption("--gpu-memory-update"):
        baseline.save()
        print(f"\ngapless: wrote {os.path.relpath(baseline.path)}")
