"""Small recordings of every form that PyTorch has written, as plain objects to be pickled."""

from __future__ import annotations

from typing import Any

Plain = dict[str, Any]
MIB = 1 << 20
BASE = 0x7F0000000000


def frames(*names: str) -> list[Plain]:
    return [{"name": name, "filename": "/opt/train.py", "line": 10 + i} for i, name in enumerate(names)]


def event(action: str, address: int, size: int, **more: Any) -> Plain:
    key = "device_free" if action == "oom" else "addr"
    return {"action": action, key: address, "size": size, "stream": 0, **more}


def block(address: int, size: int, state: str = "inactive", **more: Any) -> Plain:
    return {"address": address, "size": size, "requested_size": size - 12, "state": state, "frames": [], **more}


def segment(address: int, blocks: list[Plain], **more: Any) -> Plain:
    size = sum(b["size"] for b in blocks)
    used = sum(b["size"] for b in blocks if b["state"] != "inactive")
    head = {"device": 0, "address": address, "total_size": size, "allocated_size": used, "active_size": used}
    head |= {"requested_size": used, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0)}
    return head | {"is_expandable": False, "frames": [], "blocks": blocks, **more}


def of_2_0() -> Plain:
    """History inside blocks, which have no address."""
    newest = {"addr": BASE, "real_size": MIB - 100, "frames": frames("linear", "forward")}
    older = {"addr": BASE, "real_size": 77, "frames": frames("init")}
    used = {"size": MIB, "requested_size": MIB - 100, "state": "active_allocated", "history": [newest, older]}
    free = {"size": MIB, "requested_size": 0, "state": "inactive"}
    old = segment(BASE, [used, free])
    for key in ("segment_pool_id", "is_expandable", "frames"):
        del old[key]
    trace = [event("alloc", BASE, MIB - 100, frames=frames("linear")), event("snapshot", 0, MIB)]
    return {"segments": [old], "device_traces": [trace]}


def of_2_5() -> Plain:
    """Settings and annotations; a pool of a graph; a block that waits for another stream."""
    blocks = [block(BASE, MIB, "active_pending_free"), block(BASE + MIB, 512, "active_awaiting_free")]
    blocks += [block(BASE + MIB + 512, MIB - 512)]
    trace = [event("segment_alloc", BASE, 2 * MIB, time_us=1700000000000000 + i) for i in range(3)]
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.6}
    settings |= {"expandable_segments": False, "roundup_power2_divisions": {"1": 0, "2": 4}}
    notes = [{"stage": "START", "name": "Optimizer.step#Adam.step", "device": 0, "time_us": 1700000000000001}]
    return {
        "segments": [segment(BASE, blocks, stream=3 << 40, segment_pool_id=(0, 7), segment_type="small")],
        "device_traces": [trace],
        "allocator_settings": settings,
        "external_annotations": notes,
    }


def of_2_14() -> Plain:
    """Two devices, an out-of-memory event, expandable segments, everything that an event may carry."""
    stack = frames("matmul", "forward", "train")
    more = {"compile_context": "N/A", "user_metadata": "epoch 1", "pool_id": (0, 0), "frames": stack}
    traces = [
        [
            event("segment_map", BASE, 2 * MIB, time_us=1, **more),
            event("alloc", BASE, MIB, time_us=2, **more),
            event("annotate", BASE, MIB, time_us=3, **more),
            event("free_requested", BASE, MIB, time_us=4, **more),
            event("free_completed", BASE, MIB, time_us=5, **more),
            event("oom", 226492416, 600 * MIB, time_us=6, **more),
        ],
        [],
        [event("alloc", 5 * MIB, 512, time_us=7, forward_frames=["a", "b"], internal_metadata="x", **more)],
    ]
    whole = segment(BASE, [block(BASE, 2 * MIB, frames=stack)], is_expandable=True, frames=stack)
    other = segment(4 * MIB, [block(4 * MIB, MIB), block(5 * MIB, 512, "active_allocated")], device=2)
    return {
        "segments": [other, whole],
        "device_traces": traces,
        "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "max_cached_size": -1},
        "external_annotations": [],
        "host_segments": [],
        "host_traces": [],
    }


def segments_only() -> list[Plain]:
    """The list that torch.cuda.memory_snapshot() returns."""
    return [segment(BASE + 2 * MIB, [block(BASE + 2 * MIB, MIB)]), segment(BASE, [block(BASE, 2 * MIB)])]


FORMS = {
    "2.0": of_2_0,
    "2.5": of_2_5,
    "2.14": of_2_14,
    "segments": segments_only,
    "no_trace": lambda: {"segments": segments_only(), "device_traces": [[], []]},
    "no_segments": lambda: {"segments": [], "device_traces": [[event("alloc", BASE, 12)]]},
    "traces_only": lambda: {"device_traces": [[event("alloc", BASE, 12)]]},
    "nothing": lambda: {"segments": [], "device_traces": []},
}
