"""What a file does not say is found by trying: each recording here replays exactly under one reading only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless import _core
from gapless.conf import Settings
from gapless.recording.readings import limits
from gapless.replaying import ReplayOptions, replay
from gapless.units import GIB, MIB
from tests.unit.recording.made import calls_of, recording_of

if TYPE_CHECKING:
    from pathlib import Path

    from gapless.recording import Recording

NEWEST = (2, 14)


def pinned(allocator: _core.Allocator, block_bytes: int, pin_bytes: int) -> int:
    """A block whose segment cannot go back, because another block of it stays."""
    allocator.free(allocator.malloc(block_bytes + pin_bytes))
    block = allocator.malloc(block_bytes)
    allocator.malloc(pin_bytes)
    return block


def is_exact(recording: Recording) -> bool:
    return recording.check is not None and recording.check.exact


def test_what_completed_while_a_request_failed_did_not_serve_it(tmp_path: Path) -> None:
    """Two blocks wait for a side stream; their neighbours pin the segments, so that waiting for them does not help."""
    allocator = _core.Allocator(*NEWEST, 1 * GIB)
    lent = [pinned(allocator, 400 * MIB, 80 * MIB) for _ in range(2)]
    allocator.set_events_pending(True)
    for block in lent:
        allocator.record_stream(block, 1)
        allocator.free(block)
    allocator.malloc(390 * MIB)

    recording = recording_of(allocator, tmp_path / "snapshot.pickle")
    (oom,) = recording.oom_events

    assert is_exact(recording)
    assert calls_of(recording)[-3:] == ["free_deferred", "free_deferred", "malloc"]
    assert recording.program.event_end[-1] == oom + 1 == recording.event_count


def test_what_waited_is_free_after_a_request_that_does_not_fail_here(tmp_path: Path) -> None:
    allocator = _core.Allocator(*NEWEST, 1 * GIB)
    lent = pinned(allocator, 400 * MIB, 80 * MIB)
    allocator.set_events_pending(True)
    allocator.record_stream(lent, 1)
    allocator.free(lent)
    allocator.malloc(600 * MIB)
    allocator.malloc(390 * MIB)  # served by what completed while 600 MiB were refused

    recording = recording_of(allocator, tmp_path / "snapshot.pickle")
    small = replay(recording, ReplayOptions(capacity_bytes=1 * GIB, stops_at_failure=False)).result
    large = replay(recording, ReplayOptions(capacity_bytes=4 * GIB)).result

    assert is_exact(recording)
    assert len(small.failures) == 1
    assert large.failures == []
    assert large.reserved_bytes_peak == (400 + 80 + 600) * MIB


def test_the_end_of_a_pool_gives_back_its_segments_alone(tmp_path: Path) -> None:
    allocator = _core.Allocator(*NEWEST, 4 * GIB)
    cached = allocator.malloc(100 * MIB)
    allocator.free(cached)
    allocator.pool_begin(1)
    held = allocator.malloc(500 * MIB)
    allocator.pool_end(1)
    allocator.free(held)
    allocator.pool_release(1)
    allocator.pool_empty_cache(1)
    allocator.malloc(90 * MIB)

    recording = recording_of(allocator, tmp_path / "snapshot.pickle")

    assert is_exact(recording)
    assert calls_of(recording) == ["malloc", "free", "malloc", "free", "empty_pool", "malloc"]
    assert recording.program.event_end[4] - recording.program.event_begin[4] == 1


def test_a_full_release_covers_the_pools_that_are_used_no_more(tmp_path: Path) -> None:
    allocator = _core.Allocator(*NEWEST, 1 * GIB)
    cached = allocator.malloc(100 * MIB)
    allocator.pool_begin(1)
    held = allocator.malloc(500 * MIB)
    allocator.pool_end(1)
    allocator.free(held)
    allocator.pool_release(1)
    allocator.free(cached)
    allocator.malloc(900 * MIB)  # only with the memory of both

    recording = recording_of(allocator, tmp_path / "snapshot.pickle")

    assert is_exact(recording)
    assert calls_of(recording)[-2:] == ["let_go_pool", "malloc"]
    assert recording.check is not None
    assert recording.check.retries == 1


def test_a_pool_that_never_splits_is_recognised(tmp_path: Path) -> None:
    allocator = _core.Allocator(*NEWEST, 4 * GIB)
    allocator.pool_create(1)
    allocator.pool_no_split(1)
    allocator.pool_begin(1)
    for _ in range(3):
        allocator.malloc(3 * MIB)

    recording = recording_of(allocator, tmp_path / "snapshot.pickle")

    assert is_exact(recording)
    assert list(recording.program.no_split_pools) == [1]
    assert replay(recording, ReplayOptions(capacity_bytes=4 * GIB)).result.reserved_bytes_peak == 60 * MIB


def test_a_pool_that_splits_is_not_taken_for_another(tmp_path: Path) -> None:
    allocator = _core.Allocator(*NEWEST, 4 * GIB)
    allocator.pool_begin(1)
    for _ in range(3):
        allocator.malloc(3 * MIB)

    recording = recording_of(allocator, tmp_path / "snapshot.pickle")

    assert is_exact(recording)
    assert list(recording.program.no_split_pools) == []


def limited(allocator: _core.Allocator) -> None:
    """Half of 8 GiB, with garbage collection above 80 %: old segments go back before the last requests."""
    allocator.set_memory_fraction(0.5)
    settings = _core.AllocatorSettings()
    settings.garbage_collection_threshold = 0.8
    allocator.configure(settings)
    for size in range(300, 900, 60):
        allocator.free(allocator.malloc(size * MIB))
    allocator.malloc(4000 * MIB)
    allocator.malloc(200 * MIB)


def test_a_memory_limit_is_found_where_garbage_collection_depends_on_it(tmp_path: Path) -> None:
    allocator = _core.Allocator(*NEWEST, 8 * GIB)
    limited(allocator)

    recording = recording_of(allocator, tmp_path / "snapshot.pickle", garbage_collection_threshold=0.8)

    assert len(recording.oom_events) == 1
    assert is_exact(recording)


def test_a_limit_lies_between_what_was_reserved_and_what_was_refused(tmp_path: Path) -> None:
    allocator = _core.Allocator(*NEWEST, 8 * GIB)
    limited(allocator)

    recording = recording_of(allocator, tmp_path / "snapshot.pickle", garbage_collection_threshold=0.8)
    found = limits(recording.trace, recording.snapshot.devices[0].events, Settings())

    least, most = 4000 * MIB, 4200 * MIB - 1
    assert found == [4 * GIB, most, least, (least + most) // 2]


def test_what_was_refused_hangs_on_the_size_of_segments(tmp_path: Path) -> None:
    """A request for 5 MiB asks for a segment of 20 MiB, or of what the settings say."""
    allocator = _core.Allocator(*NEWEST, 8 * GIB)
    allocator.set_memory_fraction(0.5)
    allocator.malloc(4090 * MIB)
    allocator.malloc(5 * MIB)
    recording = recording_of(allocator, tmp_path / "snapshot.pickle")
    events = recording.snapshot.devices[0].events

    usual = limits(recording.trace, events, Settings())
    larger = limits(recording.trace, events, Settings(large_segment_size=64 * MIB))

    assert usual == [4 * GIB, 4110 * MIB - 1, 4090 * MIB, 4100 * MIB - 1]
    assert larger == [4 * GIB, 4154 * MIB - 1, 4090 * MIB, 4122 * MIB - 1]


def test_settings_too_long_to_be_any_are_not_read(tmp_path: Path) -> None:
    allocator = _core.Allocator(*NEWEST, 1 * GIB)
    allocator.malloc(1 * MIB)
    text = "roundup_power2_divisions:[" + "1:1," * 5000 + ">:1]"

    recording = recording_of(allocator, tmp_path / "snapshot.pickle", PYTORCH_CUDA_ALLOC_CONF=text)

    assert recording.settings_text == ""
