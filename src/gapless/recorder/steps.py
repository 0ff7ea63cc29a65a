"""A row for each step of the optimizer: what memory was like, read when the optimizer is done."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from gapless.recorder import memory
from gapless.recorder.files import STEPS
from gapless.recorder.quiet import complain

if TYPE_CHECKING:
    from gapless.recorder.files import Files
    from gapless.recorder.memory import Memory

_FLUSH_SECONDS = 1.0
_EACH_UP_TO = 5
"""Digits: every row of steps below 100,000 is written, then each tenth, then each hundredth."""
_LOOK_SHARE = 0.005
"""Of the run's time that looking for the largest free block may take."""
_LOOK_FOR_DEVICES = 100


class Steps:
    """Counts steps and writes their rows.

    A program may step several optimizers, or one for each parameter: a new step begins when one of them steps again.
    """

    def __init__(self, torch: Any, files: Files, header: dict[str, Any], reset_peaks: bool = False) -> None:
        self._torch = torch
        self._reset_peaks = reset_peaks
        self._path = files.path(STEPS)
        self._file: int | None = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._pending: list[str] = []
        self._flushed = 0.0
        self._counts: dict[int, int] = {}
        self._peaks: dict[int, int] = {}
        self._peaks_before_optimizer: dict[int, int] = {}
        self._least_free: dict[int, int] = {}
        self._devices: list[int] = []
        self._look_cost, self._looked = 0.0, float("-inf")
        self.count = 0
        """Steps that are done."""
        self.write(header)

    def before_optimizer(self, optimizer: object) -> None:
        """Forward and backward are done."""
        if self._counts.get(id(optimizer), 0) < self.count:
            return
        for device in self._devices:
            self._peaks_before_optimizer[device] = memory.reserved_peak(self._torch, device)

    def after_optimizer(self, optimizer: object) -> list[Memory]:
        """An optimizer is done; what memory is like where this ends a step."""
        count = self._counts[id(optimizer)] = self._counts.get(id(optimizer), 0) + 1
        if count <= self.count or self._torch.cuda.is_current_stream_capturing():
            return []
        self.count = count
        if count % 10 ** max(0, len(str(count)) - _EACH_UP_TO):
            return []
        if not self._devices or count % _LOOK_FOR_DEVICES == 1:
            self._devices = memory.devices_in_use(self._torch)
        read = [memory.read(self._torch, device) for device in self._devices]
        largest = self._largest_free() if read else {}
        for one in read:
            self.write(self._row(one, largest.get(one.device)))
            if self._reset_peaks:
                self._torch.cuda.reset_peak_memory_stats(one.device)
        return read

    def write(self, row: dict[str, Any]) -> None:
        """Add a row. A crash loses those of the last second."""
        self._pending.append(json.dumps(row, separators=(",", ":")) + "\n")
        now = time.monotonic()
        if now - self._flushed >= _FLUSH_SECONDS:
            self._flushed = now
            self.flush()

    def flush(self) -> None:
        """Give all rows to the system; the first time that it does not take them is the last."""
        text, self._pending = "".join(self._pending), []
        try:
            if self._file is not None and text:
                os.write(self._file, text.encode())
        except OSError as error:
            complain(error, f"no more rows can be written to {self._path}")
            self._close()

    def close(self) -> None:
        """No rows come any more."""
        self.flush()
        self._close()

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _row(self, read: Memory, largest: int | None) -> dict[str, Any]:
        device = read.device
        least = min(read.device_free_bytes, self._least_free.get(device, read.device_free_bytes))
        self._least_free[device] = least
        before = self._peaks.get(device, 0)
        rose_early = self._peaks_before_optimizer.get(device, before) > before
        rose = read.reserved_bytes_peak > before
        phase = "gradients" if rose_early else "optimizer" if rose and self.count > 1 else None
        self._peaks[device] = 0 if self._reset_peaks else read.reserved_bytes_peak
        return {
            "row": "step",
            "step": self.count,
            "time_us": time.time_ns() // 1000,
            "phase": phase,
            **read.to_json(),
            "free_block_bytes_largest": largest,
            "device_free_bytes_least": least,
        }

    def _largest_free(self) -> dict[int, int]:
        """The largest free block of each device; empty where this release cannot tell cheaply, or told lately."""
        began = time.monotonic()
        if began - self._looked < self._look_cost / _LOOK_SHARE:
            return {}
        found = largest_free(self._torch)
        self._looked = time.monotonic()
        self._look_cost = self._looked - began
        return found


def largest_free(torch: Any) -> dict[int, int]:
    """The largest free block of each device; empty on releases that look through all events for it (up to 2.10)."""
    if "include_traces" not in torch.cuda.memory.memory_snapshot.__code__.co_varnames:
        return {}
    found: dict[int, int] = {}
    for segment in torch.cuda.memory.memory_snapshot(include_traces=False):
        free = max((block["size"] for block in segment["blocks"] if block["state"] == "inactive"), default=0)
        found[segment["device"]] = max(free, found.get(segment["device"], 0))
    return found
