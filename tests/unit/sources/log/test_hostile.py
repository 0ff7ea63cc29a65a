"""Logs that try to be costly: time grows with their length only, and memory not at all."""

from __future__ import annotations

import io
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from gapless.sources.log import scan as scan_module
from gapless.sources.log import stream
from gapless.sources.log.stream import CHUNK_BYTES, scan_chunks, scan_log
from tests.unit.sources.log.messages import GIB, Truth

START = "CUDA out of memory. Tried to allocate 1.00 GiB. "
UNITS = {
    "anchors": "out of memory",
    "starts": START,
    "half starts": "Tried to allocate ",
    "processes": START + "GPU 0 has a total capacity of 1.00 GiB. " + "Process 1 has 1.00 GiB memory in use. " * 90,
    "digits": "Tried to allocate " + "1" * 3000,
    "blanks": "CUDA out of memory." + " " * 3000,
    "lines": "CUDA out of memory." + "\n" * 3000,
    "short lines": "CUDA out of memory.\n" + "a\n" * 1500,
    "backslashes": "CUDA out of memory." + "\\" * 3000,
    "escapes": "CUDA out of memory." + "\x1b[0;0" * 600,
    "nul": "Tried to allocate " + "\0" * 3000,
    "boxes": "CUDA out of memory." + "\u2502" * 1000,
    "prefixes": START + "\n(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaapid=" * 50,
    "brackets": START + "\n[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[" * 50,
    "advice": "if you see " * 50 + START,
    "frames": 'File "' * 100 + START,
    "errors": "aError: " * 100 + START,
    "settings": "PYTORCH_CUDA_ALLOC_CONF=a:",
    "tables": "PyTorch CUDA memory summary, device ID 0",
    "rows": "PyTorch CUDA memory summary, device ID 0" + "Allocated memory | 1 MB | 1 MB |" * 90,
    "nccl": "Cuda failure 'out of memory'",
    "no utf-8": "\udcff" * 30 + START,
}
SECONDS_MOST = 5.0  # of about 0.3


@pytest.mark.parametrize("name", UNITS)
def test_time_is_bounded(name: str) -> None:
    unit = UNITS[name].encode("utf-8", "surrogateescape")
    text = unit * ((1 << 17) // len(unit))

    began = time.process_time()
    scan_log(io.BytesIO(text))

    assert time.process_time() - began < SECONDS_MOST


def test_one_line_without_end_is_read_in_little_memory() -> None:
    def line() -> Iterator[bytes]:
        yield b"y" * 777
        for _ in range(48):
            yield b"x" * CHUNK_BYTES
        yield Truth().text("2.6").encode()
        for _ in range(48):
            yield b"x" * CHUNK_BYTES

    tracemalloc.start()
    scan = scan_chunks(line())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (len(scan.messages), scan.lines, scan.bytes > 96 << 20, scan.is_complete) == (1, 1, True, True)
    assert peak < 16 << 20


def test_what_is_kept_is_bounded_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "KEPT_MAX", 10)
    texts = (Truth(free=free * 1024 * 1024).text("2.6") + "\n" for free in range(2, 22))

    scan = scan_chunks(text.encode() for text in texts)

    assert ([message.line for message in scan.messages], scan.is_complete) == ([*range(1, 11)], False)


def test_what_is_seen_is_bounded_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan_module, "SEEN_MAX", 50)
    text = Truth(capacity=80 * GIB).text("2.14").encode() + b"\n"

    few, many = scan_log(io.BytesIO(text * 50)), scan_log(io.BytesIO(text * 51))

    assert (few.messages[0].repeats, few.is_complete) == (50, True)
    assert (many.messages[0].repeats, many.is_complete) == (50, False)


@pytest.mark.parametrize("bound", ["WINDOWS_MAX", "EFFORT_MAX"])
def test_what_is_looked_at_is_bounded_and_the_rest_counted(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, bound, 20)
    windows: list[str] = []
    whole = stream.find_items
    monkeypatch.setattr(stream, "find_items", lambda window: windows.append(window) or whole(window))
    text = Truth(capacity=80 * GIB).text("2.14") + "\n"

    scan = scan_log(io.BytesIO((text * 20_000).encode()))

    assert scan.messages[0].line == 1
    assert len(windows) <= 2 * 20 * 9  # of each of nine words, and each again with more behind it
    assert 20_000 - len(windows) * 8192 // len(text) <= scan.unread < 20_000
    assert not scan.is_complete


def test_settings_are_looked_for_so_often_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "SETTINGS_MAX", 3)
    lines = [f"PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:{size}" + " " * 600 for size in range(100, 200)]

    scan = scan_log(io.BytesIO("\n".join(lines).encode()))

    assert scan.settings == ("max_split_size_mb:100", "max_split_size_mb:101", "max_split_size_mb:102")
    assert scan.is_complete


def test_a_line_of_many_bare_messages_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    windows: list[str] = []
    whole = stream.find_items

    def noted(window: str) -> list[Any]:
        windows.append(window)
        return list(whole(window))

    monkeypatch.setattr(stream, "find_items", noted)

    scan_log(io.BytesIO(b"Tried to allocate 2.00 GiB. " * 2000))

    assert len(windows) < 100
