"""The capsule: the numbers of one occasion in a small file, there before the snapshot is, and where none can be."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gapless
from gapless.recorder.files import CAPSULE, rank_in

if TYPE_CHECKING:
    from gapless.recorder.files import Files

SCHEMA = "gapless.capsule/1"
_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")


def about_process(torch: Any, environment: Mapping[str, str]) -> dict[str, Any]:
    """What stays the same as long as the process lives."""
    world = environment.get("WORLD_SIZE", "")
    return {
        "gapless": gapless.__version__,
        "torch": str(torch.__version__),
        "python": platform.python_version(),
        "pid": os.getpid(),
        "rank": rank_in(environment),
        "world_size": int(world) if world.isdigit() else None,
        "settings": next((environment[name] for name in _SETTINGS if environment.get(name)), ""),
        "backend": torch.cuda.memory.get_allocator_backend(),
        "cards": [_card(torch, device) for device in range(torch.cuda.device_count())],
    }


def _card(torch: Any, device: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(device)
    return {
        "device": device,
        "name": properties.name,
        "total_bytes": properties.total_memory,
        "capability": f"{properties.major}.{properties.minor}",
    }


def write_capsule(files: Files, capsule: dict[str, Any]) -> None:
    """Write it, on one line.

    Raises:
        OSError: It cannot be written.
    """
    with files.written(CAPSULE) as file:
        file.write(json.dumps({"schema": SCHEMA, **capsule}).encode() + b"\n")
