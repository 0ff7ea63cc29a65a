"""Files that are cut, damaged or made to harm end in one clear error, in bounded memory and time, and run nothing."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gapless import _core
from gapless.errors import FormatError
from gapless.sources import open_snapshot
from tests.made_recordings import BASE, FORMS, event
from tests.recordings import ROOT
from tests.unit.sources import hostile

CRASHES = sorted((ROOT / "core/fuzz/crashes/snapshot").glob("*"))
SEEDS = sorted((ROOT / "core/fuzz/corpus/snapshot").glob("*"))


def refusal_of(content: bytes) -> FormatError:
    """The error that a file ends in: the same from memory as piece by piece."""
    with pytest.raises(FormatError) as found:
        _core.read_snapshot(content)
    with pytest.raises(FormatError) as pieced:
        _core.read_snapshot_stream(io.BytesIO(content), None)
    assert (found.value.offset, found.value.path) == (pieced.value.offset, pieced.value.path)
    assert 0 <= found.value.offset <= len(content)
    assert found.value.message
    return found.value


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_file_cut_anywhere_says_so(protocol: int) -> None:
    content = pickle.dumps(FORMS["2.14"](), protocol)

    for length in range(len(content)):
        error = refusal_of(content[:length])
        assert "ends" in error.message
        assert error.hint == "it was cut: copy or record it again"


def test_a_cut_inside_an_event_names_it() -> None:
    content = pickle.dumps({"segments": [], "device_traces": [[event("alloc", i, 5) for i in range(40)]]}, 4)

    error = refusal_of(content[:-9])

    assert error.path.startswith("device_traces[0][39]")


def test_damaged_bytes_never_do_more_than_fail() -> None:
    rng = random.Random(7)
    for form in FORMS.values():
        content = bytearray(pickle.dumps(form(), 4))
        for _ in range(600):
            damaged = bytearray(content)
            for _ in range(rng.randrange(1, 4)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            with contextlib.suppress(FormatError):
                _core.read_snapshot(damaged)


@pytest.mark.parametrize("path", CRASHES + SEEDS, ids=lambda path: path.name)
def test_inputs_of_the_fuzzer_do_no_more_than_fail(path: Path) -> None:
    with contextlib.suppress(FormatError) if path in CRASHES else contextlib.nullcontext():
        _core.read_snapshot(path.read_bytes())


@pytest.mark.parametrize("opcode", ["GLOBAL", "INST", "STACK_GLOBAL"])
@pytest.mark.parametrize(("module", "name"), [("os", "system"), ("builtins", "eval"), ("posix", "system")])
def test_code_is_named_and_not_run(opcode: str, module: str, name: str, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    content = hostile.calls(module, name, f"touch {marker}")[opcode]

    error = refusal_of(content)

    assert f"asks to run code ({opcode} {module}.{name}); nothing of it was run" in error.message
    assert "do not load this file with pickle" in error.hint
    assert not marker.exists()


def test_the_code_of_these_tests_would_run() -> None:
    """With Python's own reader: otherwise the tests above show nothing."""
    for opcode in ("GLOBAL", "INST", "STACK_GLOBAL"):
        assert pickle.loads(hostile.calls("builtins", "eval", "6 * 7")[opcode]) == 42


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        (b"\x81", "NEWOBJ"), (b"\x92", "NEWOBJ_EX"), (b"\x82\x01", "EXT1"), (b"\x83\x01\x00", "EXT2"),
        (b"\x84\x01\0\0\0", "EXT4"), (b"R", "REDUCE"), (b"b", "BUILD"), (b"o", "OBJ"), (b"Px\n", "PERSID"),
        (b"Q", "BINPERSID"), (b"\x93", "STACK_GLOBAL"), (b"\x97", "NEXT_BUFFER"), (b"\x98", "READONLY_BUFFER"),
    ],
)  # fmt: skip
def test_every_opcode_that_is_more_than_data_is_refused(opcode: bytes, name: str) -> None:
    error = refusal_of(hostile.event_with(opcode))

    assert f"asks to run code ({name})" in error.message
    assert error.path == "device_traces[0][1].size"


def test_tensors_are_told_from_attacks() -> None:
    error = refusal_of(b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n.")

    assert "torch._utils._rebuild_tensor_v2" in error.message
    assert "tensors or a model" in error.hint


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x80\x02\x8b\xff\xff\xff\x7f", "2147483647 bytes are due, 0 are left"),
        (b"\x80\x04\x8d" + (1 << 60).to_bytes(8, "little") + b"abc", f"{1 << 60} bytes are due, 3 are left"),
        (b"\x80\x04\x8d" + b"\xff" * 8, f"{2**64 - 1} bytes are due, 0 are left"),
        (b"\x80\x04\x8e" + b"\xff" * 8 + b"x", f"{2**64 - 1} bytes are due, 1 are left"),
        (b"\x80\x02j\xff\xff\xff\xff.", "entry 4294967295 of its memo"),
        (b"\x80\x02K\x01r\xff\xff\xff\xffj\xfe\xff\xff\xff.", "entry 4294967294 of its memo"),
        (b"\x80\x02K\x01r\xff\xff\xff\xffj\xff\xff\xff\xff.", "is 1, not a dictionary"),
        (b"\x80\x09N.", "of protocol 9"),
        (b"\x80\x04\xff.", "the byte 0xff is no pickle opcode"),
        (b"\x80\x04.", "takes a value where there is none"),
        (b"\x80\x04]e.", "closes a container that it did not open"),
        (b"\x80\x04(e.", "fills a container that is not there"),
        (b"\x80\x04}(K\x01u.", "sets a key without a value"),
        (b"\x80\x04K\x01K\x02a.", "appends to something that is no list"),
        (b"\x80\x04K\x01K\x02K\x03s.", "sets a key of something that is no dictionary"),
        (b"K\x01(K\x02\x86.", "takes a value where there is none"),
        (b"I1.5\n.", "a number stands here that cannot be read: 1.5"),
        (b"Fx\n.", "a number stands here that cannot be read"),
        (b"Sabc\n.", "a string stands here without its quotes"),
        (b"gx\n.", "entry of the memo is named here that cannot be read"),
        (b"", "the file ends before the pickle does"),
        (b"\x80\x04N.", "the recording is None, not a dictionary"),
        (b"\x80\x04}.", "the recording is a dictionary with neither segments nor device_traces"),
        (b"\x80\x04}X\x01\0\0\0aNs.", "its first key is a"),
        (b"\x80\x02\x8a\x0a" + b"\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", "is an integer beyond 64 bits"),
    ],
)  # fmt: skip
def test_what_a_pickle_may_not_say(content: bytes, said: str) -> None:
    assert said in refusal_of(content).message


MEASURED = r"""
import json, re, sys
from gapless import _core
from gapless.errors import FormatError
content = open(sys.argv[1], "rb").read()
highest = lambda: int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) << 10
before, said = highest(), "read"
try:
    _core.read_snapshot(content)
except FormatError as error:
    said = error.message
print(json.dumps([highest() - before, said]))
"""
MANY, FEWER = 2_000_000, 200_000
EVENT = b"}(\x8c\x06action\x8c\x05alloc\x8c\x04addrK\0\x8c\x06streamK\0\x8c\x04sizeK\0u"
BOMBS = {
    "nested lists": b"\x80\x04" + b"]" * MANY + b"a" * (MANY - 1) + b".",
    "nested marks": b"\x80\x04" + b"(" * MANY,
    "nested tuples": b"\x80\x04N" + b"\x85" * MANY + b".",
    "many values": b"\x80\x04" + b"N" * MANY,
    "many lists": b"\x80\x04" + b"]" * MANY,
    "memo of one value": b"\x80\x04N" + b"\x94" * MANY,
    "memo far apart": b"\x80\x02N" + b"".join(b"r" + (n << 8).to_bytes(4, "little") for n in range(MANY // 5)),
    "nested lists, fewer": b"\x80\x04" + b"]" * FEWER + b"a" * (FEWER - 1) + b".",
    "nested settings": hostile.settings(b"]" * FEWER + b"a" * (FEWER - 1)),
    "laughing settings": hostile.settings(hostile.laughs(20, 20)),
    "laughing traces": b"\x80\x04}\x8c\x0ddevice_traces" + hostile.laughs(8, 100) + b"s.",
    "one event many times": b"\x80\x04}\x8c\x0ddevice_traces](](" + EVENT + b"\x94" + b"h\0" * MANY + b"ees.",
    "one trace many times": b"\x80\x04}\x8c\x0ddevice_traces](](" + EVENT * 999 + b"e\x94" + b"h\0" * 9999 + b"es.",
    "one long text many times": hostile.settings(
        b"](X" + (99999).to_bytes(4, "little") + b"t" * 99999 + b"q\0" + b"h\0" * MANY + b"e"
    ),
    "colliding texts": hostile.settings(b"](" + b"".join(b"\x8c\x08" + t for t in hostile.colliding_texts(300)) + b"e"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_memory_and_time_stay_in_proportion_to_the_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.pickle"
    path.write_bytes(BOMBS[name])
    begin = time.process_time()

    command = [sys.executable, "-c", MEASURED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)
    growth, said = json.loads(done.stdout)

    assert growth <= 3 * len(BOMBS[name]) + (64 << 20)
    assert time.process_time() - begin < 10
    assert said != "read" or name == "one event many times"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nested lists, fewer", "[0] is a list, not a segment"),
        ("nested settings", "allocator_settings nests deeper than 32 levels"),
        ("laughing settings", "asks for more than 48 MiB of memory"),
        ("one trace many times", "MiB of memory, which no recording of its size needs"),
        ("one long text many times", "MiB of memory, which no recording of its size needs"),
        ("colliding texts", "made to slow its reader down"),
        ("laughing traces", "is a list, not an event"),
    ],
)
def test_a_bomb_is_called_what_it_is(name: str, said: str) -> None:
    assert said in refusal_of(BOMBS[name]).message


def test_a_value_that_changes_after_its_use_is_refused() -> None:
    row = EVENT + b"\x94"
    twice = b"\x80\x04}\x8c\x0ddevice_traces](](" + row + b"h\0\x8c\x04sizeK\x09sees."

    assert "is one that was used before" in refusal_of(twice).message


def test_a_gzip_of_a_bomb_is_no_worse() -> None:
    content = gzip.decompress(gzip.compress(BOMBS["nested lists, fewer"]))

    assert "is a list, not a segment" in refusal_of(content).message


def test_many_streams_are_too_many() -> None:
    trace = [event("alloc", BASE, 5, stream=n) for n in range(65534)]
    recording = {"device_traces": [trace]}
    assert len(_core.read_snapshot(pickle.dumps(recording)).streams) == 65534

    trace.append(event("alloc", BASE, 5, stream=65535))

    error = refusal_of(pickle.dumps(recording))
    assert error.path == "device_traces[0][65534].stream"
    assert "at most 65534" in error.message


def test_a_small_page_that_unpacks_to_a_large_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "page.html.gz"
    path.write_bytes(gzip.compress(b"<html>" + b"a" * (65 << 20)))

    with pytest.raises(FormatError, match="yields more than that when it is unpacked"):
        open_snapshot(str(path))
