"""Programs run on our own model of the allocator and written down as PyTorch would: recordings made to order.

program = Program(capacity_bytes=100 * MIB)
program.alloc("a", 30 * MIB, at=LOOP)
recording = program.open(tmp_path)
"""

from __future__ import annotations

import pickle
from itertools import groupby
from pathlib import Path
from typing import Any

from gapless import _core
from gapless.conf import NEWEST, Release, parse
from gapless.recording import OpenOptions, Recording, open_recordings, to_core

Plain = dict[str, Any]
Frames = tuple[tuple[str, int, str], ...]
"""File, line, function; innermost first."""
_TORCH = "/opt/venv/lib/python3.11/site-packages/torch"
_MAIN = ("/opt/train.py", 5, "main")


def user(line: int, function: str = "train") -> Frames:
    """A line of the reader's own program."""
    return (("/opt/train.py", line, function), _MAIN)


def in_model(line: int) -> Frames:
    """A line of the model's forward, called by the training loop."""
    call = (f"{_TORCH}/nn/modules/module.py", 1783, "_wrapped_call_impl")
    return (("/opt/model.py", line, "forward"), call, ("/opt/train.py", 41, "train"), _MAIN)


def in_optimizer() -> Frames:
    """The optimizer's step, called by the training loop."""
    return ((f"{_TORCH}/optim/adam.py", 220, "step"), ("/opt/train.py", 44, "train"), _MAIN)


class Program:
    """Calls the allocator and keeps the events, from the first call on or from `record`."""

    def __init__(self, *, capacity_bytes: int, release: Release = NEWEST, conf: str = "") -> None:
        self._release, self._conf = release, conf
        self._allocator = _core.Allocator(release.major, release.minor, capacity_bytes)
        self._allocator.configure(to_core(parse(conf, release, at_load=True).settings))
        self._blocks: dict[object, int] = {}
        self._frames: dict[int, Frames] = {}
        self._stacks: dict[Frames, list[Plain]] = {}
        self._trace: list[Plain] = []
        since = {Release(2, 8): {"compile_context": "N/A"}, Release(2, 10): {"user_metadata": ""}}
        self._more = self._as_of({**since, Release(2, 12): {"pool_id": None}}, {})

    def alloc(self, name: object, size: int, *, at: Frames = ()) -> bool:
        """Allocates; False where it runs out of memory, which is recorded."""
        block = self._allocator.malloc(size)
        self._note(at)
        if block < 0:
            return False
        self._blocks[name] = block
        return True

    def free(self, *names: object) -> None:
        """Frees what the names stand for."""
        for name in names:
            self._allocator.free(self._blocks.pop(name))
            self._note(None)

    def empty_cache(self) -> None:
        """As torch.cuda.empty_cache()."""
        self._allocator.empty_cache()
        self._note(None)

    def set_fraction(self, fraction: float) -> None:
        """As torch.cuda.set_per_process_memory_fraction()."""
        self._allocator.set_memory_fraction(fraction)

    def set_capacity(self, capacity_bytes: int) -> None:
        """Others beside PyTorch leave it so much of the card from now on."""
        self._allocator.set_capacity(capacity_bytes)

    def record(self) -> None:
        """Recording begins here; what happened before is forgotten."""
        self._trace.clear()

    @property
    def event_count(self) -> int:
        """Events recorded so far."""
        return len(self._trace)

    def to_dict(self) -> Plain:
        """The snapshot."""
        settings = {"PYTORCH_CUDA_ALLOC_CONF": self._conf, **self._exported()}
        found = {"segments": self._segments(), "device_traces": [self._trace], "allocator_settings": settings}
        since = {Release(2, 5): {"external_annotations": []}, Release(2, 14): {"host_segments": [], "host_traces": []}}
        return self._as_of(since, found)

    def _as_of(self, since: dict[Release, Plain], start: Plain) -> Plain:
        """What the release writes, by the release that began to."""
        return dict(
            start,
            **{key: value for release in since if release <= self._release for key, value in since[release].items()},
        )

    def write(self, path: Path) -> Path:
        """Writes the snapshot as `torch.cuda.memory._dump_snapshot` does."""
        path.write_bytes(pickle.dumps(self.to_dict(), protocol=4))
        return path

    def open(self, folder: Path, **options: Any) -> Recording:
        """The recording, opened for questions."""
        path = self.write(folder / "made.pickle")
        return open_recordings(str(path), OpenOptions(**{"release": self._release, **options}))[0]

    def _note(self, at: Frames | None) -> None:
        for action, address, size, stream, pool in self._allocator.take_events():
            frames = self._frames_for(action, address, at)
            event: Plain = {"action": action, "device_free" if action == "oom" else "addr": address, "size": size}
            event |= {"stream": stream, "frames": frames, **self._more, "time_us": len(self._trace)}
            if "pool_id" in event:
                event["pool_id"] = (0, pool)
            self._trace.append(event)

    def _frames_for(self, action: str, address: int, at: Frames | None) -> list[Plain]:
        if at is not None:
            if action == "alloc":
                self._frames[address] = at
            return self._shared(at)
        return self._shared(self._frames.get(address, ()))

    def _shared(self, frames: Frames) -> list[Plain]:
        if frames not in self._stacks:
            self._stacks[frames] = [{"filename": file, "line": line, "name": name} for file, line, name in frames]
        return self._stacks[frames]

    def _exported(self) -> Plain:
        settings = parse(self._conf, self._release, at_load=True).settings
        since: dict[Release, Plain] = {Release(2, 9): {"graph_capture_record_stream_reuse": False}}
        since[Release(2, 13)] = {"max_round_threshold": -1, "max_cached_size": -1}
        values: Plain = {
            "max_split_size": -1 if settings.max_split_size is None else settings.max_split_size,
            "garbage_collection_threshold": settings.garbage_collection_threshold,
            "expandable_segments": settings.expandable_segments,
            "roundup_power2_divisions": {str(1 << k): v for k, v in enumerate(settings.roundup_power2_divisions)},
        }
        return self._as_of(since, values)

    def _segments(self) -> list[Plain]:
        rows = self._allocator.snapshot()
        number = 0
        numbered = []
        for row in rows:
            number += bool(row[8])
            numbered.append((number, row))
        return [self._segment([row for _, row in group]) for _, group in groupby(numbered, key=lambda pair: pair[0])]

    def _segment(self, rows: list[tuple[Any, ...]]) -> Plain:
        words = {"A": "active_allocated", "P": "active_pending_free", "-": "inactive"}
        blocks = [
            {"address": address, "size": size, "requested_size": requested, "state": words[state]}
            | {"frames": self._shared(self._frames.get(address, ())) if state != "-" else []}
            for address, size, requested, state, *_ in rows
        ]
        address, _, _, _, stream, pool, is_small, is_expandable, _ = rows[0]
        used = sum(block["size"] for block in blocks if block["state"] != "inactive")
        return {
            "device": 0,
            "address": address,
            "total_size": sum(block["size"] for block in blocks),
            "allocated_size": used,
            "active_size": used,
            "requested_size": used,
            "stream": stream,
            "segment_type": "small" if is_small else "large",
            "segment_pool_id": (0, pool),
            "is_expandable": is_expandable,
            "frames": [],
            "blocks": blocks,
        }
