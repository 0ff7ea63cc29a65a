"""Every shared recording, read as it is and pickled anew, says what Python says it says."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from gapless import _core
from gapless.sources import open_snapshot
from tests.recordings import content_of, each_shared_snapshot, load_plainly
from tests.unit.sources.oracle import actual, expected


@each_shared_snapshot()
def test_a_recording_is_read_value_by_value(path: Path) -> None:
    assert actual(open_snapshot(path)) == expected(load_plainly(content_of(path)))


def shortened(loaded: Any, *, events: int, segments: int) -> Any:
    """The recording without its later events and segments: the forms of a pickle do not depend on the size."""
    traces = [trace[:events] for trace in loaded["device_traces"]]
    return {**loaded, "device_traces": traces, "segments": loaded["segments"][:segments]}


@pytest.mark.parametrize("protocol", range(6))
@each_shared_snapshot()
def test_the_protocol_makes_no_difference(path: Path, protocol: int) -> None:
    loaded = shortened(load_plainly(content_of(path)), events=200, segments=50)

    assert actual(_core.read_snapshot(pickle.dumps(loaded, protocol))) == expected(loaded)
