"""What a path may lead to, how much a gzip may yield, and what a file that is no recording seems to be."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import random
import socket
import struct
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gapless.errors import FormatError, InputError
from gapless.sources import open_snapshot
from gapless.sources.content import Content
from gapless.sources.gunzip import Gunzip
from gapless.sources.sniff import Kind, sniff
from tests.made_recordings import FORMS
from tests.unit.sources.oracle import actual, expected

if TYPE_CHECKING:
    from collections.abc import Callable

RECORDING = FORMS["2.14"]()
PICKLE = pickle.dumps(RECORDING)
ZEROS_PACKED = gzip.compress(bytes(50 << 20))


def refusal_of(path: Path | str, **more: int) -> InputError:
    with pytest.raises(InputError) as found:
        open_snapshot(path, **more)
    assert found.value.hint or "cannot be" in found.value.message
    return found.value


def written(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        PICKLE,
        gzip.compress(PICKLE),
        gzip.compress(PICKLE) + bytes(1000),
        gzip.compress(PICKLE[:100]) + gzip.compress(PICKLE[100:]),
        gzip.compress(PICKLE[:100]) + bytes(3) + gzip.compress(b"") + gzip.compress(PICKLE[100:], 0),
    ],
    ids=["plain", "gzip", "zeros behind", "two members", "three members"],
)
def test_plain_and_packed_files_say_the_same(content: bytes, tmp_path: Path) -> None:
    assert actual(open_snapshot(written(tmp_path, content))) == expected(RECORDING)


def test_a_packed_page_is_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "fixtures" / "writers" / "torch2.14_trace_plot.html"

    packed = written(tmp_path, gzip.compress(page.read_bytes()))

    assert actual(open_snapshot(packed)) == actual(open_snapshot(page))


def test_a_gzip_may_not_yield_more_than_the_cap(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(b"\x80\x04X" + struct.pack("<I", 50 << 20) + bytes(50 << 20) + b"."))

    assert "not a dictionary" in refusal_of(path).message
    error = refusal_of(path, gzip_cap=49 << 20)
    assert error.message == f"{path} yields more than that when it is unpacked; at most 49.00 MiB are read"
    assert "gzip_cap" in error.hint


def test_a_plain_file_may_not_hold_more_than_the_cap(tmp_path: Path) -> None:
    path = written(tmp_path, PICKLE)

    assert actual(open_snapshot(path, gzip_cap=len(PICKLE))) == expected(RECORDING)
    error = refusal_of(path, gzip_cap=1024)
    assert error.message == f"{path} holds {len(PICKLE) / 1024:.2f} KiB; at most 1.00 KiB are read"


def test_what_a_gzip_yields_is_bounded_by_who_asks() -> None:
    stream = Gunzip(io.BytesIO(ZEROS_PACKED))

    assert len(stream.read(7)) == 7
    assert 0 < len(stream.read(1 << 16)) <= 1 << 16


@pytest.mark.parametrize("length", range(2, len(gzip.compress(PICKLE)), 37))
def test_a_gzip_cut_anywhere_says_so(length: int, tmp_path: Path) -> None:
    error = refusal_of(written(tmp_path, gzip.compress(PICKLE)[:length]))

    assert isinstance(error, FormatError)
    assert "ends" in error.message or "empty" in error.message


def test_a_damaged_gzip_says_so(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(PICKLE))
    content[60] ^= 0xFF

    assert isinstance(refusal_of(written(tmp_path, content)), FormatError)
    whole = bytearray(gzip.compress(PICKLE))
    whole[-6] ^= 1  # of the checksum
    with Content(written(tmp_path, whole)) as checked, pytest.raises(FormatError, match="the gzip is damaged"):
        checked.whole()


def test_a_gzip_that_goes_on_with_something_else_is_damaged(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(PICKLE) + b"something else")

    with Content(path) as content, pytest.raises(FormatError, match="the gzip is damaged"):
        content.whole()


def test_paths_that_lead_to_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))

    assert f"{tmp_path} is a directory, not a file" in refusal_of(tmp_path).message
    assert f"{tmp_path / 'pipe'} is a pipe, not a file" in refusal_of(tmp_path / "pipe").message
    assert "/dev/zero is a device, not a file" in refusal_of("/dev/zero").message
    assert "cannot be opened" in refusal_of(tmp_path / "socket").message
    assert "No such file" in refusal_of(tmp_path / "missing").message
    assert "embedded null" in refusal_of("a\0b").message


def test_a_file_without_permission(tmp_path: Path) -> None:
    path = written(tmp_path, PICKLE)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")

    assert "Permission denied" in refusal_of(path).message


def checkpoint() -> bytes:
    """A file as torch.save writes it: a zip with a pickle and the tensors."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n.")
    return content.getvalue()


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("notes.txt", b"notes")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "seems"),
    [
        (b"", "empty"),
        (checkpoint(), "tensors or a model saved with torch.save"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", "tensors or a model saved with torch.save"),
        (zipped(), "a zip archive"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG image"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "a JPEG image"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\x7fELF" + bytes(50), "a program or a library"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS"),
        (struct.pack("<Q", 20) + b'{"__metadata__":{}}', "a safetensors file"),
        (b"\x28\xb5\x2f\xfd" + bytes(9), "packed with zstd"),
        (bytes(5000), "all zeros where it begins"),
        (os.urandom(4).replace(b"\x80", b"\x01") + b"\xff\xfe\x00\x01" * 20, "binary data of no kind known here"),
        (b'{"schemaVersion": 1, "traceEvents": []}', "a profiler trace (JSON)"),
        (b'[{"a": 1}]', "JSON"),
        (b"Traceback (most recent call last):\n  torch.OutOfMemoryError: CUDA out of memory\n", "text"),
        (("é" * 5000).encode(), "text"),
        (gzip.compress(b"hello world"), "text"),
        (gzip.compress(b""), "empty"),
    ],
)
def test_what_is_no_recording_is_named(content: bytes, seems: str, tmp_path: Path) -> None:
    path = written(tmp_path, content)

    assert refusal_of(path).message == f"{path} is {seems}, not a memory snapshot"


def test_a_snapshot_turned_into_json_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text('{"segments": [{"device": 0}], "device_traces": [[]]}')

    with pytest.raises(FormatError, match="a memory snapshot turned into JSON, neither"):
        sniff(str(path))


def test_json_that_counts_segments_is_no_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "list.jsonl"
    path.write_text('{"name": "a.pickle", "segments": 176, "device_traces": 1}\n{"name": "b.pickle", "segments": 3}\n')

    assert sniff(str(path)) is Kind.LOG


@pytest.mark.parametrize("content", [b"cos\nsystem\n(S'id'\ntR.", b"(ios\nsystem\n."])
def test_a_pickle_of_text_that_calls_is_refused_for_it(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(content)

    with pytest.raises(FormatError, match="asks to run code"):
        open_snapshot(str(path))


def test_an_error_names_the_file_the_byte_and_the_path(tmp_path: Path) -> None:
    recording = FORMS["2.14"]()
    recording["device_traces"][0][1]["size"] = -1
    path = written(tmp_path, pickle.dumps(recording))

    error = refusal_of(path)

    assert error.where == f"{path}, byte {error.offset:,}, device_traces[0][1].size"


def test_zlib_alone_is_no_gzip(tmp_path: Path) -> None:
    assert "not a memory snapshot" in refusal_of(written(tmp_path, zlib.compress(PICKLE))).message


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_progress_is_told_in_bytes_of_the_file(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(pack(random.Random(1).randbytes(3 << 20)))
    told: list[tuple[int, int]] = []

    with Content(path, on_read=lambda done, total: told.append((done, total))) as content:
        content.whole()

    size = path.stat().st_size
    assert len(told) > 2
    assert told == sorted(told)
    assert told[-1] == (size, size)
