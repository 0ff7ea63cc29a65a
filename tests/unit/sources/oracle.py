"""Holds a Snapshot against the objects that Python makes of the same pickle, value by value.

`expected` reads the objects and shares no code with the reader; `actual` turns the columns back. Both yield plain
values, so that a difference is shown where it is.
"""

from __future__ import annotations

import json
from typing import Any

from gapless import _core

Plain = dict[str, Any]
Frames = list[tuple[str, int, str]] | None

NO_LINE = (-1, 2**64 - 1)  # what PyTorch writes where a frame has no line; Gapless says 0
STATES = {"inactive": "free", "active_allocated": "allocated"}


def expected(loaded: Any) -> Plain:
    """What a Snapshot of these objects must say."""
    top = {"segments": loaded} if isinstance(loaded, list) else loaded
    traces = top.get("device_traces", [])
    segments = top.get("segments", [])
    devices = sorted({i for i, trace in enumerate(traces) if trace} | {s["device"] for s in segments})
    return {
        "devices": [
            {
                "device": device,
                "events": [_event(event) for event in (traces[device] if device < len(traces) else [])],
                "segments": [
                    _segment(s)
                    for s in sorted((s for s in segments if s["device"] == device), key=lambda s: s["address"])
                ],
            }
            for device in devices
        ],
        "settings": top.get("allocator_settings"),
        "annotations": top.get("external_annotations"),
        "trace_lists": len(traces),
        "is_segment_list": isinstance(loaded, list),
        "keys": _keys(loaded),
    }


def _keys(loaded: Any) -> list[str]:
    keys = set()
    top = {"segments": loaded} if isinstance(loaded, list) else loaded
    if isinstance(loaded, dict):
        keys |= {f"top.{key}" for key in loaded}
    keys |= {f"settings.{key}" for key in top.get("allocator_settings", {})}
    events = [event for trace in top.get("device_traces", []) for event in trace]
    blocks = [block for segment in top.get("segments", []) for block in segment["blocks"]]
    rows = {"event": events, "segment": top.get("segments", []), "block": blocks}
    for scope, found in rows.items():
        keys |= {f"{scope}.{key}" for row in found for key in row}
    holders = [*events, *top.get("segments", []), *blocks, *(h for b in blocks for h in b.get("history", []))]
    frames = [frame for holder in holders for frame in holder.get("frames", [])]
    keys |= {f"frame.{key}" for frame in frames for key in frame}
    return sorted(keys)


def _frames(row: Plain) -> Frames:
    if "frames" not in row:
        return None
    return [(f["filename"], 0 if f["line"] in NO_LINE else f["line"], f["name"]) for f in row["frames"]]


def _pool(row: Plain, key: str) -> tuple[int, int] | None:
    return tuple(row[key]) if key in row else None


def _event(event: Plain) -> Plain:
    return {
        "action": event["action"],
        "address": event["device_free" if event["action"] == "oom" else "addr"],
        "size": event["size"],
        "stream": event["stream"],
        "time_us": event.get("time_us"),
        "frames": _frames(event),
        "pool": _pool(event, "pool_id"),
        "compile_context": event.get("compile_context"),
        "user_metadata": event.get("user_metadata"),
    }


def _segment(segment: Plain) -> Plain:
    blocks, address = [], segment["address"]
    for block in segment["blocks"]:
        newest = block.get("history", [{}])[0]
        blocks.append(
            {
                "address": block.get("address", address),
                "size": block["size"],
                "requested": block.get("requested_size", newest.get("real_size", block["size"])),
                "state": STATES.get(block["state"], "pending"),
                "frames": _frames(block) if "frames" in block else _frames(newest),
            }
        )
        address += block["size"]
    return {
        "address": segment["address"],
        "size": segment["total_size"],
        "stream": segment["stream"],
        "pool": _pool(segment, "segment_pool_id"),
        "is_small": segment.get("segment_type") == "small",
        "is_expandable": segment.get("is_expandable", False),
        "frames": _frames(segment),
        "blocks": blocks,
    }


def actual(snapshot: _core.Snapshot) -> Plain:
    """What a Snapshot says, in the form of `expected`."""
    return {
        "devices": [
            {
                "device": recording.device,
                "events": _events(snapshot, recording.events),
                "segments": _segments(snapshot, recording.state),
            }
            for recording in snapshot.devices
        ],
        "settings": json.loads(snapshot.settings_json) if snapshot.settings_json else None,
        "annotations": json.loads(snapshot.annotations_json) if snapshot.annotations_json else None,
        "trace_lists": snapshot.trace_lists,
        "is_segment_list": snapshot.is_segment_list,
        "keys": snapshot.keys,
    }


class _Names:
    """Turns indices back to what they name, each once."""

    def __init__(self, snapshot: _core.Snapshot) -> None:
        self.stacks: dict[int, Frames] = {i: snapshot.stacks.frames_of(i) for i in range(len(snapshot.stacks))}
        self.stacks[_core.NO_STACK] = None
        self.pools = {**dict(enumerate(snapshot.pools)), _core.UNKNOWN_POOL: None}
        self.streams = snapshot.streams.tolist()

    @staticmethod
    def text(snapshot: _core.Snapshot, index: int) -> str | None:
        return None if index == _core.NO_TEXT else snapshot.stacks.string(index)


def _events(snapshot: _core.Snapshot, events: _core.Events) -> list[Plain]:
    names = _Names(snapshot)
    columns = (
        events.action.tolist(),
        events.address.tolist(),
        events.size.tolist(),
        events.stream.tolist(),
        events.time_us.tolist(),
        events.stack.tolist(),
        events.pool.tolist(),
        events.compile_context.tolist(),
        events.user_metadata.tolist(),
    )
    return [
        {
            "action": _core.ACTIONS[action],
            "address": address,
            "size": size,
            "stream": names.streams[stream],
            "time_us": None if time_us == _core.NO_TIME else time_us,
            "frames": names.stacks[stack],
            "pool": names.pools[pool],
            "compile_context": names.text(snapshot, context),
            "user_metadata": names.text(snapshot, metadata),
        }
        for action, address, size, stream, time_us, stack, pool, context, metadata in zip(*columns, strict=True)
    ]


def _segments(snapshot: _core.Snapshot, state: _core.DeviceState) -> list[Plain]:
    names = _Names(snapshot)
    blocks = [
        {
            "address": block["address"],
            "size": block["size"],
            "requested": block["requested"],
            "state": _core.BLOCK_STATES[block["state"]],
            "frames": names.stacks[block["stack"]],
        }
        for block in _rows(state.blocks)
    ]
    return [
        {
            "address": segment["address"],
            "size": segment["size"],
            "stream": names.streams[segment["stream"]],
            "pool": names.pools[segment["pool"]],
            "is_small": segment["is_small"],
            "is_expandable": segment["is_expandable"],
            "frames": names.stacks[segment["stack"]],
            "blocks": blocks[segment["first_block"] : segment["first_block"] + segment["block_count"]],
        }
        for segment in _rows(state.segments)
    ]


def _rows(array: Any) -> list[Plain]:
    return [dict(zip(array.dtype.names, row, strict=True)) for row in array.tolist()]
