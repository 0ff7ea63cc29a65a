"""What happens in the process of one marked test: it is called as often as asked, and reports are written down."""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

FOLDER, REPEATS = "GAPLESS_PYTEST_FOLDER", "GAPLESS_PYTEST_REPEATS"
REPORTS, LEFT = "reports.jsonl", "left.json"


def is_inside() -> bool:
    """Whether this process was started for one test."""
    return FOLDER in os.environ


def configure(config: pytest.Config) -> None:
    """Take part where the process is for one test."""
    if is_inside():
        config.pluginmanager.register(_Inside(config, Path(os.environ[FOLDER])), "gapless_inside")


class _Inside:
    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._config = config
        self._folder = folder
        self._repeats = int(os.environ.get(REPEATS, "1"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write it where who started us reads it."""
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        with (self._folder / REPORTS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(data) + "\n")

    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> None:
        """Call it once less than asked; pytest itself makes the last call."""
        left: list[int] = []
        names = pyfuncitem._fixtureinfo.argnames
        arguments = {name: pyfuncitem.funcargs[name] for name in names}
        for _ in range(self._repeats - 1):
            pyfuncitem.obj(**arguments)
            left.append(_allocated_bytes())
        pyfuncitem.addfinalizer(lambda: self._note([*left, _allocated_bytes()]))

    def _note(self, left: list[int]) -> None:
        (self._folder / LEFT).write_text(json.dumps(left), encoding="utf-8")


def _allocated_bytes() -> int:
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0
    gc.collect()
    return sum(int(torch.cuda.memory_allocated(device)) for device in range(torch.cuda.device_count()))
