"""The replayed state at an event: under the recording's own settings it is the recorded one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gapless.errors import InputError
from gapless.recording import open_recordings
from gapless.replaying import ReplayOptions, replay
from gapless.report.replayed_state import state_at, to_json
from tests.integration.small import MIB, events, write

if TYPE_CHECKING:
    from pathlib import Path

    from gapless.recording import Recording

EVENTS = len(events())
CARD = 86 * MIB
"""As in the recording: 76 MiB reserved, 10 MiB free."""


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return open_recordings(str(write(tmp_path / "small.pickle")))[0]


@pytest.mark.parametrize("event", range(EVENTS))
def test_under_its_own_settings_it_is_the_recorded_one(event: int, recording: Recording) -> None:
    # Where one call makes several events, the state is the one before or after all of them.
    after_whole_calls = [0, 2, 4, 6, 8, 9, 10, 11, EVENTS - 1]
    done = replay(recording, ReplayOptions(capacity_bytes=CARD))

    found = state_at(recording, done, f"event:{event}").state

    assert found is not None
    if event in after_whole_calls:
        recorded = recording.state_before(event)
        assert found.segments["size"].tolist() == recorded.segments["size"].tolist()
        assert found.blocks[["size", "state"]].tolist() == recorded.blocks[["size", "state"]].tolist()


def test_sums_and_blocks_are_written(recording: Recording) -> None:
    done = replay(recording, ReplayOptions(capacity_bytes=CARD))

    written = to_json(state_at(recording, done, "oom"))

    assert (written["at"], written["event"], written["reached"]) == ("oom", EVENTS - 1, True)
    assert written["reserved_bytes"] == 76 * MIB
    assert written["allocated_bytes"] == written["active_bytes"] == 7 * MIB
    assert written["free_bytes"] == 69 * MIB
    assert written["largest_free_block_bytes"] == 35 * MIB
    cuts = [[(block["bytes"] // MIB, block["state"]) for block in one["blocks"]] for one in written["segments"]]
    assert cuts == [[(4, "allocated"), (34, "free")], [(35, "free"), (3, "allocated")]]


def test_after_a_failure_there_is_nothing_unless_it_goes_on(recording: Recording) -> None:
    ended = replay(recording, ReplayOptions(capacity_bytes=CARD))
    went_on = replay(recording, ReplayOptions(capacity_bytes=CARD, stops_at_failure=False))

    assert state_at(recording, ended, "end").state is None
    assert to_json(state_at(recording, ended, "end"))["segments"] is None
    end = state_at(recording, went_on, "end").state
    assert end is not None
    assert int(end.segments["size"].astype(np.int64).sum()) == 76 * MIB


def test_on_a_smaller_card_it_is_another(recording: Recording) -> None:
    done = replay(recording, ReplayOptions(capacity_bytes=40 * MIB))

    assert done.failures[0].event == 3
    assert state_at(recording, done, "oom").state is None
    assert state_at(recording, done, "event:3").state is not None


def test_moments_that_are_not_in_the_recording_are_refused(recording: Recording) -> None:
    done = replay(recording)

    with pytest.raises(InputError, match="event 99 is asked for"):
        state_at(recording, done, "event:99")
