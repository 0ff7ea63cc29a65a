"""Recordings made by hand for tests: our own model of the allocator runs, and its decisions become a snapshot file.

    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("x", 600 * MIB, at("train.py", 3))
    diary.malloc("y", 600 * MIB)                      # fails: an oom event
    recording = diary.open(tmp_path)

What a real recording lacks can be taken away: events from the front (`drop`), the end state at another moment.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gapless import _core
from gapless.recording import OpenOptions, Recording, open_recordings

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
Frames = list[tuple[str, int, str]]
MODULE = ("site-packages/torch/nn/modules/module.py", 1783, "_wrapped_call_impl")


def at(file: str, line: int, function: str = "<module>") -> Frames:
    """A stack of one frame."""
    return [(file, line, function)]


def model_call(line: int, caller: tuple[str, int, str] = ("train.py", 20, "train")) -> Frames:
    """A stack inside a model that is called from a line of a program."""
    return [("model.py", line, "forward"), MODULE, caller]


def optimizer_step(caller: tuple[str, int, str] = ("train.py", 22, "train"), function: str = "_init_group") -> Frames:
    """A stack inside an optimizer of torch."""
    return [("site-packages/torch/optim/adam.py", 180, function), caller]


_EVENT_KEYS = (((2, 8), "compile_context", "N/A"), ((2, 10), "user_metadata", ""))
"""Keys of events that tell the release, with what they hold when nothing is to say."""


class FailedError(Exception):
    """A request failed, which ends the program."""


@dataclass
class Diary:
    """A program on a simulated card, and everything the recorder of PyTorch would write down."""

    capacity_bytes: int = 80 * GIB
    release: tuple[int, int] = (2, 14)
    conf: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    blocks: dict[str, int] = field(default_factory=dict)
    addresses: dict[str, int] = field(default_factory=dict)  # of the last allocation of a name
    frames: dict[int, Frames] = field(default_factory=dict)  # of the last allocation at an address
    allocator: Any = None
    settings: Any = None
    time: int = 0

    def __post_init__(self) -> None:
        self.allocator = _core.Allocator(*self.release, self.capacity_bytes)
        self.settings = _core.AllocatorSettings()

    def configure(self, **settings: Any) -> None:
        """Changes settings from here on; they are exported at the end."""
        for name, value in settings.items():
            setattr(self.settings, name, value)
        self.allocator.configure(self.settings)

    def need(self, name: str, size: int, frames: Frames | None = None) -> None:
        """Allocates, or ends the program."""
        if not self.malloc(name, size, frames):
            raise FailedError

    def malloc(self, name: str, size: int, frames: Frames | None = None, stream: int = 0) -> bool:
        """Allocates; a failure becomes an oom event and False."""
        block = self.allocator.malloc(size, stream)
        self._write(frames)
        if block >= 0:
            self.blocks[name] = block
            self.addresses[name] = self.events[-1]["addr"]
        return bool(block >= 0)

    def free(self, *names: str, frames: Frames | None = None) -> None:
        """Frees what malloc named."""
        for name in names:
            self.allocator.free(self.blocks.pop(name))
            self._write(frames)

    def empty_cache(self) -> None:
        """Gives the cache back."""
        self.allocator.empty_cache()
        self._write(None)

    def _write(self, frames: Frames | None) -> None:
        for action, address, size, stream, pool in self.allocator.take_events():
            self.time += 1
            event = {"action": action, "size": size, "stream": stream, "time_us": self.time}
            event |= {key: value for since, key, value in _EVENT_KEYS if self.release >= since}
            if self.release >= (2, 12):
                event["pool_id"] = (0, pool)
            event["device_free" if action == "oom" else "addr"] = address
            if frames:
                event["frames"] = _frames(frames)
            if action == "alloc":
                self.frames[address] = frames or []
            self.events.append(event)

    def drop(self, count: int, *, forget_frames: bool = True) -> None:
        """Takes the oldest events away, as a late start does, or, with frames kept, a full ring."""
        for event in self.events[:count]:
            if event["action"] == "alloc" and forget_frames:
                self.frames[event["addr"]] = []
        del self.events[:count]

    def snapshot(self) -> dict[str, Any]:
        """The snapshot as PyTorch would dump it now."""
        segments: list[dict[str, Any]] = []
        for address, size, requested, state, stream, pool, small, expandable, starts in self.allocator.snapshot():
            if starts:
                segments.append(_segment(address, stream, pool, small, expandable))
            used = state != "-"
            segment = segments[-1]
            segment["blocks"].append(
                {
                    "address": address,
                    "size": size,
                    "requested_size": requested,
                    "state": {"A": "active_allocated", "P": "active_pending_free", "-": "inactive"}[state],
                    "frames": _frames(self.frames.get(address, [])) if used else [],
                }
            )
            segment["total_size"] += size
            segment["active_size"] += size if used else 0
            segment["allocated_size"] += size if state == "A" else 0
            segment["requested_size"] += requested if used else 0
        settings = {
            "PYTORCH_CUDA_ALLOC_CONF": self.conf,
            "max_split_size": -1 if self.settings.max_split_size >= 1 << 62 else self.settings.max_split_size,
            "garbage_collection_threshold": self.settings.garbage_collection_threshold,
            "expandable_segments": self.settings.expandable_segments,
            "roundup_power2_divisions": {str(1 << k): v for k, v in enumerate(self.settings.roundup_power2_divisions)},
        }
        if self.release >= (2, 13):
            settings |= {"max_round_threshold": -1, "max_cached_size": -1}
        host: dict[str, Any] = {"host_segments": [], "host_traces": []} if self.release >= (2, 14) else {}
        return {
            "segments": segments,
            "device_traces": [self.events],
            "allocator_settings": settings,
            "external_annotations": [],
            **host,
        }

    def write(self, path: Path) -> Path:
        """The snapshot as a file."""
        path.write_bytes(pickle.dumps(self.snapshot(), protocol=4))
        return path

    def open(self, folder: Path, options: OpenOptions | None = None) -> Recording:
        """The snapshot, opened."""
        (recording,) = open_recordings(str(self.write(folder / "diary.pickle")), options)
        return recording


def _segment(address: int, stream: int, pool: int, small: bool, expandable: bool) -> dict[str, Any]:
    return {
        "device": 0,
        "address": address,
        "total_size": 0,
        "allocated_size": 0,
        "active_size": 0,
        "requested_size": 0,
        "stream": stream,
        "segment_type": "small" if small else "large",
        "segment_pool_id": (0, pool),
        "is_expandable": expandable,
        "frames": [],
        "blocks": [],
    }


def _frames(frames: Frames) -> list[dict[str, Any]]:
    return [{"filename": file, "line": line, "name": name} for file, line, name in frames]
