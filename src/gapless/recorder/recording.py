"""Recording of one process: from the moment when it uses a GPU, until it ends."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gapless.recorder import memory, phase
from gapless.recorder.capsule import about_process, write_capsule
from gapless.recorder.failure import Failure, failed_request
from gapless.recorder.files import Files, stem_of
from gapless.recorder.quiet import complain, quietly
from gapless.recorder.snapshot import Pace, Written, write_snapshot
from gapless.recorder.steps import Steps, largest_free

if TYPE_CHECKING:
    from gapless.recorder.options import Options

_WEIGHT = {"exit": 0, "threshold": 1, "signal": 2, "library_out_of_memory": 2, "out_of_memory": 2}
"""A snapshot is never replaced by one of an occasion that weighs less."""
_MOST_OCCASIONS = 20
_ALWAYS_WRITTEN = 3
_WRITING_SHARE = 0.02
"""Of the run's time that may go into snapshots, after the first few: a program may live on failures that it catches."""


@dataclass(frozen=True)
class Occasion:
    """Why something is written."""

    reason: str
    """One of `_WEIGHT`."""
    failure: Failure | None = None
    phase: str = "other"
    stack: list[str] = field(default_factory=list)
    """Places in the program, innermost first."""
    ends_program: bool = False
    """Whether there is no later one: then it is written whatever writing has cost."""

    @property
    def is_failure(self) -> bool:
        """Whether memory ran out."""
        return self.reason.endswith("out_of_memory")

    def to_json(self) -> dict[str, Any]:
        """What it is, in brief."""
        failure = self.failure.to_json() if self.failure else None
        return {"reason": self.reason, "phase": self.phase, "failure": failure}


class Recording:
    """What is recorded of one process, and where it goes.

    Args:
        torch: PyTorch, of which CUDA is initialized.
        options: How to record.

    Raises:
        OSError: The folder cannot be written to.
    """

    def __init__(self, torch: Any, options: Options) -> None:
        self._torch, self._options = torch, options
        self.pid = os.getpid()
        self.files = Files(options.folder, stem_of(os.environ, self.pid))
        self._about = about_process(torch, os.environ)
        header = {"row": "process", "schema": "gapless.steps/1", **self._about}
        self.steps = Steps(torch, self.files, header, options.reset_peaks)
        self._began, self._writing_seconds = time.monotonic(), 0.0
        self._lock = threading.Lock()
        self._pace = Pace()
        self._weight = -1
        self._occasions: list[dict[str, Any]] = []
        self._counted: dict[int, int] = {}
        self.failed = False
        self.has_unwritten_failure = False
        self.recorder = self._begin_history()

    def out_of_memory(self, device: int, requested_bytes: int, limit_bytes: int, free_bytes: int) -> None:
        """A request of PyTorch's is about to fail."""
        held = memory.read(self._torch, device).to_json()
        failure = failed_request(device, requested_bytes, limit_bytes, free_bytes, held)
        self.occasion(Occasion("out_of_memory", failure, phase.phase_now(self._torch), phase.stack_now()))

    def occasion(self, occasion: Occasion) -> None:
        """Write the capsule, then the snapshot. While one is written, another occasion is passed over."""
        if os.getpid() != self.pid or not self._lock.acquire(blocking=False):
            return
        try:
            self._write(occasion)
        except Exception as error:
            complain(error, f"what was recorded cannot be written to {self.files.folder}")
        finally:
            self._lock.release()

    def stop(self, *, process_ends: bool) -> None:
        """Close the rows; and where the program goes on, let PyTorch keep no more history, if it is we who asked it."""
        self.steps.close()
        if self.recorder == "gapless" and not process_ends:
            self._torch.cuda.memory._record_memory_history(None)

    def _begin_history(self) -> str:
        """Who records: `gapless`, the `program` itself, or nobody, as only PyTorch's own allocator keeps a history."""
        torch = self._torch
        if torch.cuda.memory.get_allocator_backend() != "native":
            return "nobody"
        # `gapless run` records as well, and gives way.
        if torch._C._cuda_isHistoryEnabled() and "GAPLESS_VIRTUAL" not in os.environ:
            return "program"
        self._counted = {one: memory.event_count(torch, one) for one in range(torch.cuda.device_count())}
        try:
            torch.cuda.memory._record_memory_history("all", stacks="python", max_entries=self._options.max_events)
        except Exception as error:
            complain(error, "PyTorch records no events, so there are numbers alone")
            return "nobody"
        return "gapless"

    def _write(self, occasion: Occasion) -> None:
        began = time.monotonic()
        devices = memory.devices_in_use(self._torch)
        brief = {**occasion.to_json(), "time_us": time.time_ns() // 1000, "step": self.steps.count}
        capsule = {
            **brief,
            **self._about,
            "devices": [memory.read(self._torch, one).to_json() for one in devices],
            "recorder": self.recorder if self._is_recorded() else "nobody",
            "stack": occasion.stack,
            "earlier": list(self._occasions),
        }
        self.failed = self.failed or occasion.is_failure
        self.has_unwritten_failure = occasion.is_failure
        written = Written(None, 0, 0.0, self._why_not(occasion))
        if not written.note or occasion.is_failure:
            waiting = written if written.note else replace(written, note="not written yet")
            write_capsule(self.files, {**capsule, "snapshot": waiting.to_json()})
        capsule["capsule_seconds"] = time.monotonic() - began
        if not written.note:
            written = self._snapshot(occasion.reason)
            capsule["devices"] = self._with_largest(capsule["devices"])
            write_capsule(self.files, {**capsule, "snapshot": written.to_json()})
        self.has_unwritten_failure = occasion.is_failure and written.path is None
        self._occasions = [*self._occasions, brief][-_MOST_OCCASIONS:]
        self.steps.write({"row": "occasion", **brief, "snapshot": written.to_json()})
        self.steps.flush()
        self._writing_seconds += time.monotonic() - began

    def _why_not(self, occasion: Occasion) -> str:
        """Why there shall be no snapshot; empty where there shall."""
        if self._options.snapshot_seconds == 0:
            return "not asked for"
        if _WEIGHT[occasion.reason] < self._weight:
            return "not written: an earlier one, of what weighs more, is kept"
        elapsed = time.monotonic() - self._began
        is_costly = len(self._occasions) >= _ALWAYS_WRITTEN and self._writing_seconds > _WRITING_SHARE * elapsed
        if is_costly and not occasion.ends_program:
            return f"not written: {self._writing_seconds:.1f} of {elapsed:.1f} s went into writing already"
        return ""

    def _snapshot(self, reason: str) -> Written:
        try:
            written = write_snapshot(
                self._torch, self.files, self._expected_events(), self._options.snapshot_seconds, self._pace
            )
        except Exception as error:
            complain(error, f"no snapshot can be written to {self.files.folder}")
            return Written(None, 0, 0.0, f"not written: {type(error).__name__}: {error}")
        if written.path is not None:
            self._weight = _WEIGHT[reason]
        return written

    def _expected_events(self) -> int:
        most = self._options.max_events
        counts = (
            memory.event_count(self._torch, device) - self._counted.get(device, 0)
            for device in memory.devices_in_use(self._torch)
        )
        return sum(min(most, max(0, count)) for count in counts)

    def _is_recorded(self) -> bool:
        return self.recorder != "nobody" and bool(self._torch._C._cuda_isHistoryEnabled())

    @quietly("the largest free block cannot be told")
    def _largest(self) -> dict[int, int]:
        return largest_free(self._torch)

    def _with_largest(self, devices: list[dict[str, Any]]) -> list[dict[str, Any]]:
        largest = self._largest() or {}
        return [{**one, "free_block_bytes_largest": largest.get(one["device"])} for one in devices]
