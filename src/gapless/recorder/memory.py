"""What PyTorch and the driver say of a device's memory, by calls that wait for nothing on the GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Memory:
    """A device at one moment. Peaks are PyTorch's: since the process began, or the program reset them."""

    device: int
    allocated_bytes: int
    allocated_bytes_peak: int
    active_bytes: int
    active_bytes_peak: int
    reserved_bytes: int
    reserved_bytes_peak: int
    device_free_bytes: int
    """As the driver says: of the whole device, for all processes."""
    device_total_bytes: int
    outside_bytes: int
    """In use on the device and not PyTorch's: the context, libraries, other processes."""
    retries: int
    """Times that the cache was given back because a request could not be served."""
    ooms: int
    """Requests that failed."""

    def to_json(self) -> dict[str, int]:
        """All of it."""
        return dict(vars(self))  # asdict takes ten times as long


def read(torch: Any, device: int) -> Memory:
    """The memory of a device on which PyTorch has something."""
    stats = torch._C._cuda_memoryStats(device)
    free, total = torch.cuda.mem_get_info(device)
    allocated, active, reserved = (stats[f"{name}_bytes"]["all"] for name in ("allocated", "active", "reserved"))
    return Memory(
        device=device,
        allocated_bytes=allocated["current"],
        allocated_bytes_peak=allocated["peak"],
        active_bytes=active["current"],
        active_bytes_peak=active["peak"],
        reserved_bytes=reserved["current"],
        reserved_bytes_peak=reserved["peak"],
        device_free_bytes=free,
        device_total_bytes=total,
        outside_bytes=max(0, total - free - reserved["current"]),
        retries=stats["num_alloc_retries"],
        ooms=stats["num_ooms"],
    )


def reserved_peak(torch: Any, device: int) -> int:
    """The most that PyTorch reserved."""
    return int(torch._C._cuda_memoryStats(device)["reserved_bytes"]["all"]["peak"])


def devices_in_use(torch: Any) -> list[int]:
    """Devices on which PyTorch holds, or held, memory; to ask the others would make a context there."""
    return [device for device in range(torch.cuda.device_count()) if reserved_peak(torch, device) > 0]


def event_count(torch: Any, device: int) -> int:
    """How many events a device had so far: what recording from the beginning would hold without a bound."""
    stats = torch._C._cuda_memoryStats(device)
    blocks, segments = stats["allocation"]["all"], stats["segment"]["all"]
    return int(blocks["allocated"] + 2 * blocks["freed"] + segments["allocated"] + segments["freed"])
