"""Makes a recording of any length as PyTorch 2.14 would write it: shared stacks, an allocator that reuses its blocks.

The allocator is the simplest that yields a consistent recording: segments of equal slots, a slot for each request.
"""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

SLOT_BYTES = 1 << 20
SLOTS = 20  # of a segment
STACKS = 2000
Plain = dict[str, Any]


def made_stacks(rng: random.Random) -> list[list[Plain]]:
    """Lists of 15 to 45 frames, the frames themselves shared, as PyTorch shares them."""
    frames = [
        {"name": f"forward_{i % 97}", "filename": f"/opt/train/model/layer_{i % 193}.py", "line": 10 + i % 811}
        for i in range(4 * STACKS)
    ]
    return [rng.sample(frames, rng.randrange(15, 46)) for _ in range(STACKS)]


def made_snapshot(events: int, *, seed: int = 0) -> Plain:
    """A recording of at least ``events`` events, from an empty allocator on."""
    rng = random.Random(seed)
    stacks = made_stacks(rng)
    base, trace, live, free = 0x7F0000000000, [], {}, []
    segments: list[Plain] = []

    def note(action: str, address: int, size: int, frames: list[Plain]) -> None:
        event: Plain = {"action": action, "addr": address, "size": size, "stream": 0}
        event |= {"time_us": 1796056732724249 + 7 * len(trace), "compile_context": "N/A", "user_metadata": ""}
        trace.append(event | {"pool_id": (0, 0), "frames": frames})

    while len(trace) < events:
        if live and rng.random() < min(0.9, len(live) / 4000):
            address = rng.choice(list(live)[:64])
            size, frames = live.pop(address)
            note("free_requested", address, size, frames)
            note("free_completed", address, size, frames)
            free.append(address)
            continue
        frames = rng.choice(stacks)
        if not free:
            address = base + len(segments) * SLOTS * SLOT_BYTES
            segments.append({"address": address, "frames": frames})
            free += [address + slot * SLOT_BYTES for slot in range(SLOTS)]
            note("segment_alloc", address, SLOTS * SLOT_BYTES, frames)
        address, size = free.pop(), rng.randrange(1, 2048) * 512
        live[address] = (size, frames)
        note("alloc", address, size, frames)
    return {
        "segments": [_filled(segment, live) for segment in segments],
        "device_traces": [trace],
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False},
        "external_annotations": [],
    }


def _filled(segment: Plain, live: dict[int, tuple[int, list[Plain]]]) -> Plain:
    """The whole entry of a segment, with its blocks at the end."""
    blocks = []
    for address in range(segment["address"], segment["address"] + SLOTS * SLOT_BYTES, SLOT_BYTES):
        size, frames = live.get(address, (0, []))
        state = "active_allocated" if address in live else "inactive"
        block = {"address": address, "size": SLOT_BYTES, "requested_size": size, "state": state, "frames": frames}
        blocks.append(block)
    used = sum(block["state"] != "inactive" for block in blocks) * SLOT_BYTES
    head = {"device": 0, "address": segment["address"], "total_size": SLOTS * SLOT_BYTES}
    head |= {"allocated_size": used, "active_size": used, "requested_size": sum(b["requested_size"] for b in blocks)}
    head |= {"stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False}
    return head | {"frames": segment["frames"], "blocks": blocks}


def write_snapshot(path: Path, events: int, *, seed: int = 0) -> None:
    """Writes a made recording as `torch.cuda.memory._dump_snapshot` does."""
    with path.open("wb") as file:
        pickle.dump(made_snapshot(events, seed=seed), file, protocol=4)
