"""Every form of a recording, in every protocol, whole or in pieces, says what its objects say."""

from __future__ import annotations

import gc
import io
import pickle
from typing import Any

import numpy as np
import pytest

from gapless import _core
from tests.made_recordings import BASE, FORMS, MIB, block, event, segment
from tests.unit.sources.oracle import actual, expected


class Trickle(io.BytesIO):
    """A stream that yields a few bytes at a time."""

    def readinto(self, buffer: Any) -> int:
        return super().readinto(memoryview(buffer)[:7])


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_read_value_by_value(form: str, protocol: int) -> None:
    recording = FORMS[form]()

    assert actual(_core.read_snapshot(pickle.dumps(recording, protocol))) == expected(recording)


@pytest.mark.parametrize("form", FORMS)
def test_pieces_and_what_follows_the_pickle_make_no_difference(form: str) -> None:
    recording = FORMS[form]()
    content = pickle.dumps(recording, 4) + b"\0\0\0"

    for size in (None, len(content)):
        assert actual(_core.read_snapshot_stream(Trickle(content), size)) == expected(recording)


def test_the_writer_of_c_plus_plus_is_understood() -> None:
    """PyTorch's own pickler writes protocol 2 with marks around everything and 8-byte integers."""
    text = lambda word: b"X" + len(word).to_bytes(4, "little") + word.encode()  # noqa: E731
    number = lambda n: b"\x8a\x08" + n.to_bytes(8, "little", signed=True)  # noqa: E731
    row = b"".join((text("action"), text("alloc"), text("addr"), number(BASE), text("size"), b"K\x05"))
    row += text("stream") + b"K\0" + text("pool_id") + b"(K\0K\x03t" + text("frames") + b"](e"
    content = b"\x80\x02}q\0(" + text("device_traces") + b"](](}q\x01(" + row + b"uee" + text("segments") + b"](eu."

    (device,) = _core.read_snapshot(content).devices

    assert actual(_core.read_snapshot(content)) == expected(pickle.loads(content))
    assert device.events.address.tolist() == [BASE]


def test_pools_may_be_lists_and_lists_tuples() -> None:
    trace = (event("alloc", BASE, 5, pool_id=[0, 1 << 40]), event("alloc", BASE, 5, pool_id=[0, 0]))
    snapshot = _core.read_snapshot(pickle.dumps({"device_traces": (trace,), "segments": ()}))

    assert snapshot.pools == [(0, 0), (0, 1 << 40)]
    assert snapshot.devices[0].events.pool.tolist() == [1, 0]


def test_unknown_keys_are_listed_and_ignored() -> None:
    recording = {
        "segments": [segment(BASE, [block(BASE, MIB, colour="red")], shape=(1, 2, 3))],
        "device_traces": [[event("alloc", BASE, 5, mood={"a": [1]})]],
        "allocator_settings": {"new_option": None},
        "weather": {"action": "rain", "size": -1},
    }
    snapshot = _core.read_snapshot(pickle.dumps(recording))

    assert actual(snapshot) == expected(recording)
    assert {"block.colour", "segment.shape", "event.mood", "settings.new_option", "top.weather"} <= set(snapshot.keys)


def test_host_lists_may_hold_what_device_lists_may_not() -> None:
    recording = {**FORMS["2.14"](), "host_traces": [[event("alloc", -1, 5), event("new", 0, 0)]]}
    recording["host_segments"] = [segment(BASE, [block(BASE, 5)], device=-1)]

    snapshot = _core.read_snapshot(pickle.dumps(recording))

    assert actual(snapshot)["devices"] == expected(FORMS["2.14"]())["devices"]


def test_integers_keep_all_64_bits() -> None:
    recording = {
        "device_traces": [
            [
                event("alloc", 2**64 - 2, 2**63, time_us=-(2**63)),
                event("alloc", 2**55, 2**55 - 1, time_us=2**63 - 1, stream=-1),
                event("alloc", 128, 255, time_us=-(2**55) - 1),
            ]
        ],
        "allocator_settings": {"a": -(2**63), "b": 2**64 - 1, "c": 1e-7, "d": float("inf"), "e": 2**55, "f": 3.0},
    }
    found = actual(_core.read_snapshot(pickle.dumps(recording)))
    wanted = expected(recording)
    wanted["devices"][0]["events"][1]["stream"] = 2**64 - 1  # a handle, whatever its sign
    wanted["devices"][0]["events"][0]["time_us"] = None  # the one time that stands for none

    assert found == wanted
    assert isinstance(found["settings"]["f"], float)


@pytest.mark.parametrize("text", ["", "a" * 300, 'quotes " and \\ and \n', "Grüße, 世界 🚀", "\0"])
def test_texts_come_back_as_they_were(text: str) -> None:
    frame = {"name": text, "filename": text + "x", "line": 3}
    recording = {
        "device_traces": [[event("alloc", BASE, 5, frames=[frame], user_metadata=text)]],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": text},
    }

    for protocol in range(6):
        assert actual(_core.read_snapshot(pickle.dumps(recording, protocol))) == expected(recording)


def test_what_is_no_text_is_shown_as_such() -> None:
    frame = {"name": "f", "filename": "\ud800.py", "line": 3}
    content = pickle.dumps({"device_traces": [[event("alloc", BASE, 5, frames=[frame])]]}, 4)

    snapshot = _core.read_snapshot(content)

    assert snapshot.stacks.frames_of(0) == [("\N{REPLACEMENT CHARACTER}" * 3 + ".py", 3, "f")]


def test_stacks_are_stored_once() -> None:
    stack = [{"name": "f", "filename": "a.py", "line": 3}]
    trace = [event("alloc", BASE, 5, frames=[dict(frame) for frame in stack]) for _ in range(3)]
    trace += [event("alloc", BASE, 5, frames=[]), event("alloc", BASE, 5)]

    snapshot = _core.read_snapshot(pickle.dumps({"device_traces": [trace]}))

    assert snapshot.devices[0].events.stack.tolist() == [0, 0, 0, 1, _core.NO_STACK]
    assert len(snapshot.stacks) == 2
    with pytest.raises(IndexError, match="no such stack"):
        snapshot.stacks.frames_of(2)
    with pytest.raises(IndexError, match="no such string"):
        snapshot.stacks.string(1 << 40)


def test_columns_outlive_the_snapshot_and_cannot_be_written() -> None:
    snapshot = _core.read_snapshot(pickle.dumps(FORMS["2.14"]()))
    address, blocks = snapshot.devices[0].events.address, snapshot.devices[0].state.blocks
    del snapshot
    gc.collect()

    assert address.tolist() == [BASE, BASE, BASE, BASE, BASE, 226492416]
    assert blocks["size"].tolist() == [2 * MIB]
    for column in (address, blocks["size"]):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    assert blocks.dtype == np.dtype(
        {
            "names": ["address", "size", "requested", "stack", "state"],
            "formats": ["u8", "u8", "u8", "u4", "u1"],
            "offsets": [0, 8, 16, 24, 28],
            "itemsize": 32,
        }
    )


def test_errors_of_the_stream_come_through() -> None:
    class Broken(io.BytesIO):
        def readinto(self, _: Any) -> int:
            raise KeyboardInterrupt

    class Liar(io.BytesIO):
        def readinto(self, buffer: Any) -> int:
            return len(buffer) + 1

    with pytest.raises(KeyboardInterrupt):
        _core.read_snapshot_stream(Broken(), None)
    with pytest.raises(ValueError, match="more than there was room for"):
        _core.read_snapshot_stream(Liar(), None)
    with pytest.raises(AttributeError):
        _core.read_snapshot_stream(object(), None)
    with pytest.raises(TypeError):
        _core.read_snapshot("text")
