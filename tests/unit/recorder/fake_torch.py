"""As much of PyTorch as the recorder asks for, with numbers that a test sets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

GIB = 1 << 30


class FakeTorch:
    """One or two devices of 4 GiB; `snapshot` takes as long as `takes` says."""

    __version__ = "2.14.1+cu130"

    def __init__(self, devices: int = 1, events: int = 10) -> None:
        self.allocated = [GIB] * devices
        self.reserved = [2 * GIB] * devices
        self.peak = [3 * GIB] * devices
        self.allocations, self.frees = events, 0
        self.free_bytes, self.total_bytes = GIB, 4 * GIB
        self.traces = [[{"action": "alloc", "size": number} for number in range(events)] for _ in range(devices)]
        self.takes: Callable[[], object] = lambda: None
        self.is_capturing = False
        self.is_recorded = False
        self.recorded: list[Any] = []
        self.resets: list[int] = []
        self._C = SimpleNamespace(
            _cuda_memoryStats=self._stats,
            _cuda_isHistoryEnabled=lambda: self.is_recorded,
            _current_graph_task_id=lambda: -1,
        )
        properties = SimpleNamespace(name="A card", total_memory=4 * GIB, major=9, minor=0)
        self.cuda = SimpleNamespace(
            OutOfMemoryError=type("OutOfMemoryError", (RuntimeError,), {}),
            device_count=lambda: devices,
            mem_get_info=lambda _: (self.free_bytes, self.total_bytes),
            get_device_properties=lambda _: properties,
            is_current_stream_capturing=lambda: self.is_capturing,
            reset_peak_memory_stats=self.resets.append,
            memory=SimpleNamespace(
                get_allocator_backend=lambda: "native",
                _record_memory_history=self._record,
                _snapshot=self._snapshot,
                memory_snapshot=self._segments,
            ),
        )

    def _stats(self, device: int) -> dict[str, Any]:
        def sizes(now: int, peak: int) -> dict[str, Any]:
            return {"all": {"current": now, "peak": peak}}

        return {
            "allocated_bytes": sizes(self.allocated[device], self.peak[device]),
            "active_bytes": sizes(self.allocated[device], self.peak[device]),
            "reserved_bytes": sizes(self.reserved[device], self.peak[device]),
            "allocation": {"all": {"allocated": self.allocations, "freed": self.frees}},
            "segment": {"all": {"allocated": 0, "freed": 0}},
            "num_alloc_retries": 1,
            "num_ooms": 2,
        }

    def _record(self, enabled: str | None, **options: Any) -> None:
        self.is_recorded = enabled is not None
        self.recorded.append((enabled, options))

    def _snapshot(self) -> dict[str, Any]:
        self.takes()
        return {"segments": [], "device_traces": [list(trace) for trace in self.traces]}

    def _segments(self, include_traces: bool = True) -> list[dict[str, Any]]:
        blocks = [
            {"size": 5, "state": "inactive"},
            {"size": 7, "state": "inactive"},
            {"size": 9, "state": "active_allocated"},
        ]
        return [{"device": 0, "blocks": blocks}]
