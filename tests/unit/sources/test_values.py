"""A value that no allocator can mean is refused with its path and what should stand there."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from gapless import _core
from gapless.errors import FormatError
from tests.made_recordings import BASE, MIB, block, event, frames, segment

Recording = dict[str, Any]


def recording() -> Recording:
    trace = [event("alloc", BASE + i, 5, time_us=i, frames=frames("f"), pool_id=(0, 0)) for i in range(3)]
    trace.append(event("oom", 5, 6))
    segments = [
        segment(BASE + 4 * MIB, [block(BASE + 4 * MIB, MIB)]),
        segment(BASE, [block(BASE, MIB), block(BASE + MIB, MIB)]),
    ]
    return {"segments": segments, "device_traces": [trace], "allocator_settings": {}, "external_annotations": []}


def set_in(*keys: Any, to: Any) -> Callable[[Recording], None]:
    def change(recording: Recording) -> None:
        for key in keys[:-1]:
            recording = recording[key]
        recording[keys[-1]] = to

    return change


def drop(*keys: Any) -> Callable[[Recording], None]:
    def change(recording: Recording) -> None:
        for key in keys[:-1]:
            recording = recording[key]
        del recording[keys[-1]]

    return change


ACTION = "an action of PyTorch's allocator up to 2.14"
STREAM = "a stream (an integer; at most 65534 streams)"
POOL = "a pool (two integers that are not negative; at most 65534 pools)"
AFTER = "but the block before it ends at"
STATE = "'active_allocated', 'active_pending_free' or 'inactive'"
FRAMES = "not a list of frames (each a filename, a name and a line number)"
EVENT = ("device_traces", 0, 1)
SEGMENT = ("segments", 0)
BLOCK = ("segments", 1, "blocks", 1)
FRAME = ("device_traces", 0, 1, "frames")
CASES = [
    (set_in(*EVENT, "size", to=-5), "device_traces[0][1].size is -5, not a number of bytes"),
    (set_in(*EVENT, "size", to=True), "device_traces[0][1].size is True, not a number of bytes"),
    (set_in(*EVENT, "size", to=5.5), "device_traces[0][1].size is 5.500000, not a number of bytes"),
    (set_in(*EVENT, "size", to="5"), "device_traces[0][1].size is '5', not a number of bytes"),
    (set_in(*EVENT, "size", to=2**64), "device_traces[0][1].size is an integer beyond 64 bits, not a number of bytes"),
    (set_in(*EVENT, "size", to=None), "device_traces[0][1].size is None, not a number of bytes"),
    (set_in(*EVENT, "size", to=-(2**60)), f"device_traces[0][1].size is {-(2**60)}, not a number of bytes"),
    (set_in(*EVENT, "addr", to=[]), "device_traces[0][1].addr is a list, not an address"),
    (set_in(*EVENT, "action", to="grow"), f"device_traces[0][1].action is 'grow', not {ACTION}"),
    (set_in(*EVENT, "action", to=3), f"device_traces[0][1].action is 3, not {ACTION}"),
    (set_in(*EVENT, "time_us", to=2**63), f"device_traces[0][1].time_us is {2**63}, not a time in microseconds"),
    (set_in(*EVENT, "time_us", to="now"), "device_traces[0][1].time_us is 'now', not a time in microseconds"),
    (set_in(*EVENT, "stream", to=None), f"device_traces[0][1].stream is None, not {STREAM}"),
    (set_in(*EVENT, "pool_id", to=(0, 1, 2)), f"device_traces[0][1].pool_id is a tuple, not {POOL}"),
    (set_in(*EVENT, "pool_id", to=(0, -1)), f"device_traces[0][1].pool_id is a tuple, not {POOL}"),
    (set_in(*EVENT, "user_metadata", to=(1, 2)), "device_traces[0][1].user_metadata is a tuple, not a text"),
    (set_in(*EVENT, "compile_context", to=1), "device_traces[0][1].compile_context is 1, not a text"),
    (set_in(*EVENT, "frames", to="f"), f"device_traces[0][1].frames is 'f', {FRAMES}"),
    (set_in(*EVENT, "frames", to=["f"]), f"device_traces[0][1].frames is a list, {FRAMES}"),
    (set_in(*FRAME, 0, "line", to=-2), f"device_traces[0][1].frames is a list, {FRAMES}"),
    (set_in(*FRAME, 0, "line", to=2**31), f"device_traces[0][1].frames is a list, {FRAMES}"),
    (drop(*EVENT, "size"), "device_traces[0][1] has no size"),
    (drop(*EVENT, "addr"), "device_traces[0][1] has no addr"),
    (drop(*EVENT, "stream"), "device_traces[0][1] has no stream"),
    (drop(*EVENT, "action"), "device_traces[0][1] is a dictionary, not an event"),
    (drop("device_traces", 0, 3, "device_free"), "device_traces[0][3] has no device_free"),
    (set_in(*EVENT, to=None), "device_traces[0][1] is None, not an event"),
    (set_in(*EVENT, to=block(BASE, 512)), "device_traces[0][1] is a block, not an event"),
    (set_in("device_traces", 0, to=5), "device_traces[0] is 5, not a list"),
    (set_in("device_traces", to={}), "device_traces is a dictionary, not a list"),
    (set_in("segments", to=None), "segments is None, not a list"),
    (set_in(*SEGMENT, to=[]), "segments[0] is a list, not a segment"),
    (set_in(*SEGMENT, to=event("alloc", 5, 5)), "segments[0] is an event, not a segment"),
    (set_in(*SEGMENT, "total_size", to=-1), "segments[0].total_size is -1, not a number of bytes"),
    (set_in(*SEGMENT, "total_size", to=MIB + 1), f"segments[0] has {MIB + 1} bytes, but its blocks have {MIB}"),
    (set_in(*SEGMENT, "total_size", to=2**64 - 1), "segments[0] ends beyond the address space"),
    (set_in(*SEGMENT, "device", to=-1), "segments[0].device is -1, not the number of a device, 0 to 65535"),
    (set_in(*SEGMENT, "device", to=65536), "segments[0].device is 65536, not the number of a device, 0 to 65535"),
    (set_in(*SEGMENT, "segment_type", to="medium"), "segments[0].segment_type is 'medium', not 'small' or 'large'"),
    (set_in(*SEGMENT, "is_expandable", to=1), "segments[0].is_expandable is 1, not True or False"),
    (set_in(*SEGMENT, "segment_pool_id", to=7), f"segments[0].segment_pool_id is 7, not {POOL}"),
    (set_in(*SEGMENT, "blocks", to=0), "segments[0].blocks is 0, not a list of blocks"),
    (set_in(*SEGMENT, "blocks", to={}), "segments[0].blocks is a dictionary, not a list"),
    (set_in(*SEGMENT, "blocks", to=[]), f"segments[0] has {MIB} bytes, but its blocks have 0"),
    (set_in(*SEGMENT, "address", to=None), "segments[0].address is None, not an address"),
    (set_in(*SEGMENT, "address", to=BASE), f"segments[0].blocks[0] is at {BASE + 4 * MIB}, {AFTER} {BASE}"),
    (drop(*SEGMENT, "blocks"), "segments[0] has no blocks"),
    (set_in(*BLOCK, to="b"), "segments[1].blocks[1] is 'b', not a block"),
    (set_in(*BLOCK, "state", to="active"), f"segments[1].blocks[1].state is 'active', not {STATE}"),
    (set_in(*BLOCK, "size", to=0), "segments[1].blocks[1] has 0 bytes"),
    (set_in(*BLOCK, "size", to=2 * MIB), f"segments[1].blocks[1] has {2 * MIB} bytes and ends beyond its segment"),
    (set_in(*BLOCK, "size", to=5), f"segments[1] has {2 * MIB} bytes, but its blocks have {MIB + 5}"),
    (set_in(*BLOCK, "address", to=BASE), f"segments[1].blocks[1] is at {BASE}, {AFTER} {BASE + MIB}"),
    (set_in(*BLOCK, "address", to=2**64 - 1), f"segments[1].blocks[1].address is {2**64 - 1}, not an address"),
    (set_in(*BLOCK, "history", to=3), "segments[1].blocks[1].history is 3, not a list of the block's allocations"),
    (set_in("allocator_settings", to=[]), "allocator_settings is a list, not a dictionary"),
    (set_in("allocator_settings", to={"a": {1.5: 2}}), "allocator_settings has a key that is neither text nor integer"),
    (set_in("allocator_settings", to={"a": 2**70}), "allocator_settings holds an integer beyond 64 bits"),
    (set_in("external_annotations", to={}), "external_annotations is a dictionary, not a list"),
]  # fmt: skip


@pytest.mark.parametrize("protocol", [0, 4])
@pytest.mark.parametrize(("change", "said"), CASES, ids=[said for _, said in CASES])
def test_a_value_is_refused_where_it_stands(change: Callable[[Recording], None], said: str, protocol: int) -> None:
    changed = recording()
    change(changed)
    content = pickle.dumps(changed, protocol)

    with pytest.raises(FormatError) as found:
        _core.read_snapshot(content)

    assert found.value.message == said
    assert found.value.path == said.split(" ", maxsplit=1)[0]
    assert found.value.hint.startswith("no PyTorch up to 2.14 writes so")
    assert 0 < found.value.offset < len(content)


def test_the_recording_that_the_cases_change_is_sound() -> None:
    assert len(_core.read_snapshot(pickle.dumps(recording())).devices[0].events) == 4


def test_bytes_are_no_setting() -> None:
    with pytest.raises(FormatError, match="neither number, text, list nor dictionary"):
        _core.read_snapshot(pickle.dumps({"segments": [], "allocator_settings": {"a": b"x"}}, 4))


def test_segments_may_not_overlap() -> None:
    both = [segment(BASE, [block(BASE, 2 * MIB)]), segment(BASE + MIB, [block(BASE + MIB, MIB)])]

    with pytest.raises(FormatError, match=r"segments\[1\] overlaps segments\[0\]: both hold address"):
        _core.read_snapshot(pickle.dumps({"segments": both}))
    both[1]["device"] = 1
    assert len(_core.read_snapshot(pickle.dumps({"segments": both})).devices) == 2


def test_the_offset_is_that_of_the_event() -> None:
    trace = [event("alloc", i, 5) for i in range(10)]
    trace[7]["size"] = -1
    content = pickle.dumps({"device_traces": [trace]}, 4)

    with pytest.raises(FormatError) as found:
        _core.read_snapshot(content)

    assert found.value.path == "device_traces[0][7].size"
    assert content[found.value.offset : found.value.offset + 1] == pickle.SETITEMS
    assert content[: found.value.offset].count(pickle.SETITEMS) == 7
