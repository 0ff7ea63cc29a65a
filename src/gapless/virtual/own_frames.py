"""Leaving our own lines out of what the user reads: stacks in recordings, tracebacks of errors."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

_FILE = str(Path(__file__).with_name("small_values.py"))
_ENTRY = "_handle"
"""The function by which PyTorch's dispatcher enters; all that it calls is inside."""


def strip_snapshot(snapshot: dict[str, Any]) -> None:
    """Take our frames out of every stack of a snapshot, in place. Stacks that are shared stay so."""
    done: set[int] = set()
    for rows in _rows(snapshot):
        for row in rows:
            frames = row.get("frames")
            if frames is None or id(frames) in done:
                continue
            done.add(id(frames))
            entry = next((i for i, f in enumerate(frames) if f["filename"] == _FILE and f["name"] == _ENTRY), None)
            if entry is not None:
                del frames[: entry + 1]


def _rows(snapshot: dict[str, Any]) -> list[list[dict[str, Any]]]:
    rows = [segment["blocks"] for segment in snapshot.get("segments", [])]
    return [*rows, *snapshot.get("device_traces", []), snapshot.get("segments", [])]


def strip_traceback(error: BaseException) -> BaseException:
    """Take our frames out of an error's traceback, and out of those that it was raised from."""
    seen: BaseException | None = error
    while seen is not None:
        seen.__traceback__ = _stripped(seen.__traceback__)
        seen = seen.__cause__ or seen.__context__
    return error


def _stripped(traceback: types.TracebackType | None) -> types.TracebackType | None:
    kept: list[types.TracebackType] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == _FILE and code.co_name == _ENTRY:
            break
        kept.append(traceback)
        traceback = traceback.tb_next
    rest: types.TracebackType | None = None
    for one in reversed(kept):
        rest = types.TracebackType(rest, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rest
