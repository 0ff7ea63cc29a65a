"""Recordings of our own allocator's decisions, as PyTorch would have written them."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from gapless import _core
from gapless.recording import OpenOptions, Recording, open_recordings

if TYPE_CHECKING:
    from pathlib import Path

_STATES = {"A": "active_allocated", "P": "active_pending_free", "-": "inactive"}


def recording_of(
    allocator: _core.Allocator, path: Path, options: OpenOptions | None = None, **settings: Any
) -> Recording:
    """Writes all that the allocator did as a snapshot and opens it."""
    events = [
        {"action": action, "device_free" if action == "oom" else "addr": address, "size": size}
        | {"stream": stream, "pool_id": (0, pool)}
        for action, address, size, stream, pool in allocator.take_events()
    ]
    exported = {"PYTORCH_CUDA_ALLOC_CONF": "", **settings}
    content = {"segments": _segments(allocator), "device_traces": [events], "allocator_settings": exported}
    path.write_bytes(pickle.dumps(content, protocol=4))
    return open_recordings(str(path), options)[0]


def _segments(allocator: _core.Allocator) -> list[dict[str, Any]]:
    segments: list[dict[str, Any]] = []
    for address, size, requested, state, stream, pool, is_small, is_expandable, starts in allocator.snapshot():
        if starts:
            kind = "small" if is_small else "large"
            head = {"device": 0, "address": address, "total_size": 0, "stream": stream, "segment_type": kind}
            segments.append({**head, "segment_pool_id": (0, pool), "is_expandable": is_expandable, "blocks": []})
        segments[-1]["total_size"] += size
        block = {"address": address, "size": size, "requested_size": requested, "state": _STATES[state]}
        segments[-1]["blocks"].append(block)
    return segments


def calls_of(recording: Recording) -> list[str]:
    """The names of the calls that the recording was grouped into."""
    return [_core.CALLS[call] for call in recording.program.call]
