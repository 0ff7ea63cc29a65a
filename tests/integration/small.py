"""A small snapshot, written by hand: two segments of 38 MiB, each with a pin, and a request of 60 MiB that fails.

A  ####..................................   4 MiB in use, 34 free
B  ...................................###   35 free, 3 in use
"""

from __future__ import annotations

import pickle
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
A, B = 0x7F00_0000_0000, 0x7F10_0000_0000
SCRIPT = "/home/ada/secret project/train_it.py"
LIBRARY = "C:\\Users\\ada\\kept\\model.py"
SECRETS = ("ada", "secret", "train_it", "kept", "model.py")
_GIVEN_NAME = re.compile(r"file-[0-9a-f]{8}")


def leaks(text: str, *more: str) -> list[str]:
    """The secrets that a redacted text tells; the names given instead of files may hold any letters."""
    plain = _GIVEN_NAME.sub("", text)
    return [word for word in (*SECRETS, *more) if word in plain]


def stack(line: int) -> list[dict[str, Any]]:
    """A stack of two files."""
    frames = ((LIBRARY, line + 100, "forward"), (SCRIPT, line, "main"))
    return [{"filename": file, "line": at, "name": name} for file, at, name in frames]


class _Trace:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def add(self, action: str, size_mib: int, line: int, **where: int) -> None:
        time = 1_000_000 + len(self.events)
        event = {"action": action, "size": size_mib * MIB, "stream": 0, "time_us": time, "frames": stack(line)}
        self.events.append({**event, **where})

    def allocate(self, address: int, size_mib: int, line: int, *, segment_mib: int = 0) -> None:
        if segment_mib:
            self.add("segment_alloc", segment_mib, line, addr=address)
        self.add("alloc", size_mib, line, addr=address)

    def free(self, address: int, size_mib: int, line: int) -> None:
        for action in ("free_requested", "free_completed"):
            self.add(action, size_mib, line, addr=address)


def events() -> list[dict[str, Any]]:
    """The trace, from an empty allocator to the failing request."""
    trace = _Trace()
    trace.allocate(A, 38, 1, segment_mib=38)
    trace.allocate(B, 38, 2, segment_mib=38)
    trace.free(A, 38, 3)
    trace.free(B, 38, 4)
    trace.allocate(A, 4, 5)
    trace.allocate(B, 35, 6)
    trace.allocate(B + 35 * MIB, 3, 7)
    trace.free(B, 35, 8)
    trace.add("oom", 60, 9, device_free=10 * MIB)
    return trace.events


def segments(device: int) -> list[dict[str, Any]]:
    """The state at the failing request."""
    cuts = {A: ((4, "active_allocated", 5), (34, "inactive", 0)), B: ((35, "inactive", 0), (3, "active_allocated", 7))}
    found = []
    for address, blocks in cuts.items():
        at, rows = address, []
        for size, state, line in blocks:
            row = {"address": at, "size": size * MIB, "requested_size": size * MIB, "state": state}
            rows.append({**row, "frames": stack(line) if line else []})
            at += size * MIB
        used = sum(row["size"] for row in rows if row["state"] == "active_allocated")
        sizes = {"total_size": 38 * MIB, "allocated_size": used, "active_size": used, "requested_size": used}
        kind = {"segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": []}
        found.append({"device": device, "address": address, "stream": 0, **sizes, **kind, "blocks": rows})
    return found


def snapshot(devices: int = 1) -> dict[str, Any]:
    """As torch 2.6 dumps it; every device did the same."""
    settings = {
        "PYTORCH_CUDA_ALLOC_CONF": "",
        "max_split_size": -1,
        "garbage_collection_threshold": 0.0,
        "expandable_segments": False,
        "pinned_num_register_threads": 1,
        "release_lock_on_cudamalloc": False,
        "pinned_use_cuda_host_register": False,
        "roundup_power2_divisions": {str(1 << power): 0 for power in range(16)},
    }
    return {
        "segments": [row for device in range(devices) for row in segments(device)],
        "device_traces": [events() for _ in range(devices)],
        "allocator_settings": settings,
        "external_annotations": [],
    }


def write(path: Path, devices: int = 1) -> Path:
    """The snapshot in a file."""
    path.write_bytes(pickle.dumps(snapshot(devices), protocol=4))
    return path
