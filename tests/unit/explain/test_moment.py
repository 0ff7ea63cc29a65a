"""Which moment is explained, and what is asked for wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.errors import InputError
from gapless.explain import ExplainOptions, explain
from gapless.recording import Recording
from tests.unit.explain.diary import GIB, MIB, Diary, at


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """Two failures, with more in use at the second."""
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 500 * MIB, at("train.py", 1))
    diary.malloc("b", 600 * MIB, at("train.py", 2))
    diary.malloc("c", 300 * MIB, at("train.py", 3))
    diary.malloc("d", 400 * MIB, at("train.py", 4))
    diary.free("a")
    diary.malloc("e", 10 * MIB, at("train.py", 5))
    return diary.open(tmp_path)


@pytest.mark.parametrize(
    ("at_", "event", "code", "active"),
    [
        (None, 5, "OOM101", 800 * MIB),
        ("oom", 5, "OOM101", 800 * MIB),
        ("oom:0", 2, "OOM101", 500 * MIB),
        ("oom:1", 5, "OOM101", 800 * MIB),
        ("peak", 5, "OOM101", 800 * MIB),
        ("end", 9, "OK000", 310 * MIB),
        ("event:3", 3, "OK000", 500 * MIB),
        ("event:2", 2, "OOM101", 500 * MIB),
        ("event:9", 9, "OK000", 310 * MIB),
    ],
)
def test_moments(recording: Recording, at_: str | None, event: int, code: str, active: int) -> None:
    explanation = explain(recording, ExplainOptions(at=at_))

    assert explanation.case.moment.event == event
    assert explanation.verdict.code == code
    assert explanation.facts.active_bytes == active


@pytest.mark.parametrize(
    ("at_", "message", "hint"),
    [
        ("oom:2", "failure 2 is asked for, and the recording has 2", "oom:0 to oom:1"),
        ("event:10", "event 10 is asked for, and device 0 has 9 events", "event:9 is the end"),
        ("event:-1", "'event:-1' is not a moment", "write oom, oom:0, peak, end or event:1234"),
        ("middle", "'middle' is not a moment", "write oom, oom:0, peak, end or event:1234"),
        ("oom:", "'oom:' is not a moment", "write oom, oom:0, peak, end or event:1234"),
    ],
)
def test_moments_that_do_not_exist(recording: Recording, at_: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        explain(recording, ExplainOptions(at=at_))

    assert caught.value.message == message
    assert hint in caught.value.hint
    assert caught.value.where == "--at"


def test_oom_of_a_recording_without_one(tmp_path: Path) -> None:
    diary = Diary()
    diary.malloc("a", MIB)

    with pytest.raises(InputError, match="no request failed on device 0 in this recording"):
        explain(diary.open(tmp_path), ExplainOptions(at="oom"))


def test_peak_is_the_moment_of_most_in_use_among_those_of_most_reserved(tmp_path: Path) -> None:
    diary = Diary()
    diary.malloc("a", 22 * MIB)
    diary.malloc("b", 12 * MIB + 1)
    diary.malloc("c", 3 * MIB // 2)
    diary.free("a", "c")

    explanation = explain(diary.open(tmp_path))

    assert explanation.case.moment.event == 5
    assert explanation.facts.reserved_bytes == 36 * MIB
    assert explanation.facts.active_bytes == 36 * MIB  # what is left of the second segment is not split off
