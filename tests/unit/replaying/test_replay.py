"""Replays under other settings and cards, on recordings whose reruns are known."""

from __future__ import annotations

from pathlib import Path

from gapless.conf import parse
from gapless.recording import Recording, open_recordings
from gapless.replaying import Edits, ReplayOptions, replay, replay_many
from gapless.units import GIB
from tests.recordings import each_shared_snapshot


def opened(path: Path) -> Recording:
    return open_recordings(str(path))[0]


@each_shared_snapshot(where=lambda path: path.parent.name == "virtual")
def test_replay_on_a_card_without_end_reserves_what_was_recorded_or_fails_where_it_failed(path: Path) -> None:
    for recording in open_recordings(str(path)):
        if recording.event_count == 0:
            continue
        capacity = int(recording.curves["reserved"].max())
        result = replay(recording, ReplayOptions(capacity_bytes=capacity, start_as_recorded=True)).result

        assert result.reserved_bytes_peak <= capacity
        assert all(failure.event in recording.oom_events for failure in result.failures)


@each_shared_snapshot(where=lambda path: path.name.startswith("churn_expandable"))
def test_expandable_segments_need_what_the_rerun_needed(path: Path) -> None:
    """churn_default and churn_expandable are one program under two settings."""
    default = opened(path.with_name("churn_default.pickle.gz"))
    expandable = opened(path)

    predicted = replay(default, ReplayOptions(settings=parse("expandable_segments:True").settings)).result

    assert predicted.reserved_bytes_peak == int(expandable.curves["reserved"].max()) == 5433720832


@each_shared_snapshot(where=lambda path: path.name.startswith("frag_pinned_segments_oom"))
def test_a_failing_request_is_served_under_a_setting_that_helps(path: Path) -> None:
    recording = opened(path)
    (oom,) = recording.oom_events
    card = 24 * GIB

    default = replay(recording, ReplayOptions(capacity_bytes=card)).result
    cured = replay(recording, ReplayOptions(capacity_bytes=card, settings=parse("expandable_segments:True").settings))

    assert [failure.event for failure in default.failures] == [oom]
    assert cured.failures == []
    assert cured.result.served_failures == [oom]


@each_shared_snapshot(where=lambda path: path.name.startswith("train_mlp_adam"))
def test_edits_change_the_program(path: Path) -> None:
    recording = opened(path)
    count = len(recording.trace.allocations)
    nothing = replay(recording, ReplayOptions(edits=Edits(requested=[0] * count))).result
    freed_at_once = replay(recording, ReplayOptions(edits=Edits(free_before_event=[0] * count))).result
    same = replay(recording).result

    assert nothing.reserved_bytes_peak == 0
    assert freed_at_once.allocated_bytes_peak == same.allocated_bytes_peak
    assert same.reserved_bytes_peak == int(recording.curves["reserved"].max())


@each_shared_snapshot(where=lambda path: path.name.startswith("varlen_oom"))
def test_parallel_replays_equal_single_ones(path: Path) -> None:
    recording = opened(path)
    options = [
        ReplayOptions(capacity_bytes=80 * GIB, settings=parse(text).settings)
        for text in ("", "expandable_segments:True", "max_split_size_mb:256", "roundup_power2_divisions:4")
    ]

    together = [result.result.hash for result in replay_many(recording, options, workers=2)]

    assert together == [replay(recording, option).result.hash for option in options]
    assert len(set(together)) == len(options)
