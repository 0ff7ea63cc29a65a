"""The reading of settings strings against what the real libraries of 2.2 to 2.14 did with them.

`observed.json` holds what tests/differential/settings_probe.cpp printed: for each list of texts its errors, and the
settings not at their defaults. `at_load`: the text stood in PYTORCH_CUDA_ALLOC_CONF; else the texts were given
one after the other to setAllocatorSettings. A step of null: the process died.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from gapless.conf import NEWEST, RELEASES, Release, Settings, parse

_UNLIMITED = (1 << 64) - 1
_OBSERVED = json.loads(Path(__file__).with_name("observed.json").read_text())


def _name(case: dict[str, Any]) -> str:
    return " | ".join(case["texts"])[:70]


def _unusual(settings: Settings) -> dict[str, object]:
    usual = Settings()
    changed = [field.name for field in fields(Settings) if getattr(settings, field.name) != getattr(usual, field.name)]
    found = {name: getattr(settings, name) for name in changed}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def _half_hidden(error: str) -> str:
    """An unknown key is reported by whichever half is asked first, which at load is a matter of chance."""
    return error.replace("Accelerator allocator", "CUDA allocator")


def _check_load(text: str, release: Release, steps: list[dict[str, Any]] | None) -> None:
    parsed = parse(text, release, at_load=True)

    if steps is None or "error" in steps[0]:
        assert parsed.problems
        # With the other backend nothing is read before it is asked for, so which problem comes first is chance.
        if steps is not None and "cudaMallocAsync" not in text and parsed.problems[0].torch_error:
            assert _half_hidden(parsed.problems[0].torch_error) == _half_hidden(steps[0]["error"])
    else:
        assert not parsed.problems
        assert _unusual(parsed.settings) == steps[0].get("settings", {})


def _check_run_time(texts: list[str], release: Release, steps: list[dict[str, Any]] | None) -> None:
    settings = Settings()
    for index, text in enumerate(texts):
        parsed = parse(text, release, settings)
        settings = parsed.settings
        if steps is None:
            assert [problem.code for problem in parsed.problems] == ["unclosed-list"]
            return
        assert [problem.torch_error for problem in parsed.problems] == [
            step["error"] for step in steps[index : index + 1] if "error" in step
        ]
        assert _unusual(settings) == steps[index].get("settings", {})


@pytest.mark.parametrize("case", _OBSERVED, ids=_name)
def test_reading_equals_the_real_library(case: dict[str, Any]) -> None:
    releases_checked = 0
    for outcome in case["outcomes"]:
        first, last = (Release.parse(name) for name in outcome["releases"])
        for release in (release for release in RELEASES if first <= release <= last):
            if case["at_load"]:
                _check_load(case["texts"][0], release, outcome["steps"])
            else:
                _check_run_time(case["texts"], release, outcome["steps"])
            releases_checked += 1

    assert releases_checked == NEWEST.minor - 1
