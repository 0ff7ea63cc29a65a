"""What may be chosen about recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gapless.recorder.options import Options, options_in


def test_what_is_written_into_the_environment_is_read_from_it(tmp_path: Path) -> None:
    options = Options(str(tmp_path), 7, 1.5, 0.25, "USR2", True)

    assert options_in(options.to_environment()) == options


def test_a_folder_is_enough() -> None:
    assert options_in({"GAPLESS_RECORD": "out"}) == Options("out")
    assert Options("out").to_environment()["GAPLESS_RECORD"] == str(Path("out").absolute())


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"folder": ""}, "a folder is needed"),
        ({"max_events": 0}, "max_events is 0; it counts from 1"),
        ({"threshold": 1.5}, "threshold is 1.5; it is a part of a whole"),
        ({"threshold": float("nan")}, "threshold is nan; it is a part of a whole"),
        ({"snapshot_seconds": -1}, "snapshot_seconds is -1; it cannot be less than 0"),
    ],
)
def test_what_means_nothing_is_refused(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Options(**{"folder": "out", **wrong})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("max_event:5", "knows no 'max_event'; it knows max_events"),
        ("reset_peaks:maybe", "'maybe' is neither"),
        ("max_events:many", "invalid literal"),
    ],
)
def test_a_text_that_is_not_understood_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        options_in({"GAPLESS_RECORD": "out", "GAPLESS_RECORD_OPTIONS": text})
