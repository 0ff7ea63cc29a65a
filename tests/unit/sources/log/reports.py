"""The collected out-of-memory reports: real messages of many releases and frameworks, by their id."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.recordings import ROOT


@cache
def reports() -> dict[str, dict[str, Any]]:
    """Reports by id; none where the shared data is absent, which with CI=true is a failure."""
    path = Path(os.environ.get("GAPLESS_SHARED", ROOT.parent / "shared")) / "data" / "oom_reports.jsonl"
    if not path.exists():
        assert os.environ.get("CI") != "true", f"{path} is absent"
        pytest.skip("the shared reports are absent: set GAPLESS_SHARED")
    lines = path.read_text(encoding="utf-8").splitlines()
    return {report["id"]: report for report in map(json.loads, lines)}
