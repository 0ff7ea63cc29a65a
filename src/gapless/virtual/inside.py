"""What happens inside a process that runs on the pretend card: loading it under PyTorch, recording, the report."""

from __future__ import annotations

import atexit
import json
import os
import pickle
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gapless.import_hook import on_import
from gapless.virtual import control
from gapless.virtual.assumptions import Assumptions
from gapless.virtual.own_frames import strip_snapshot, strip_traceback
from gapless.virtual.plan import Plan
from gapless.virtual.posing import pose
from gapless.virtual.small_values import SmallValues

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_EVENTS = sys.maxsize
_RACE_SECONDS = 0.05
"""PyTorch's autograd threads may still be dropping objects when a very short script ends."""


def prepare(plan_path: str) -> None:
    """Wait for PyTorch to be imported, and put the card under it then."""
    loaded: list[tuple[Plan, control.Control]] = []

    def load_card() -> None:
        plan = Plan.load(plan_path)
        loaded.append((plan, control.load(tuple(plan.libraries))))

    on_import("torch", lambda torch: Run(*loaded[0], torch).begin(), before=load_card)


class Run:
    """One process of a virtual run."""

    def __init__(self, plan: Plan, card: control.Control, torch: Any) -> None:
        self._plan = plan
        self._card = card
        self._torch = torch
        self._began = time.monotonic()
        self._steps = 0
        self._failure: dict[str, str] | None = None
        self._start: Callable[..., Any] = torch.cuda.memory._record_memory_history
        self._assumptions = Assumptions(plan.selected)

    def begin(self) -> None:
        """PyTorch is imported: record from its first allocation on, and report at the end."""
        self._leave_recording_to_the_user()
        if self._plan.world is not None:
            pose(self._torch, self._plan.world, self._assumptions)
        self._torch.cuda._lazy_call(self._record)
        if self._plan.small_values:
            self._torch.cuda._lazy_call(lambda: SmallValues(self._torch, self._card, self._assumptions).begin())
        atexit.register(self._end)
        self._previous_hook = sys.excepthook
        sys.excepthook = self._note_failure
        if self._plan.steps is not None:
            self._stop_after_steps()

    def _leave_recording_to_the_user(self) -> None:
        """A script that records itself finds in its snapshots what it asked for: its own events, without our lines."""
        memory = self._torch.cuda.memory
        take = memory._snapshot

        def snapshot(*args: Any, **kwargs: Any) -> Any:
            taken = take(*args, **kwargs)
            strip_snapshot(taken)
            return taken

        def record(enabled: Any = "all", *args: Any, **kwargs: Any) -> Any:
            self._start(None)  # forgets what we recorded
            if enabled is None:
                return self._record()
            return self._start(enabled, *args, **kwargs)

        memory._snapshot, memory._record_memory_history = snapshot, record

    def _record(self) -> None:
        if self._torch.cuda.memory.get_allocator_backend() != "native":
            return  # the other one keeps no history
        if self._torch._C._cuda_isHistoryEnabled():
            return  # by who records this program from its beginning
        self._start("all", stacks="python", max_entries=_MOST_EVENTS)

    def _stop_after_steps(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook  # noqa: PLC0415

        def count(*_: object) -> None:
            self._steps += 1
            if self._plan.steps is not None and self._steps >= self._plan.steps:
                raise SystemExit(0)

        register_optimizer_step_post_hook(count)

    def _note_failure(self, kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        out_of_memory = isinstance(error, self._torch.cuda.OutOfMemoryError)
        self._failure = {"type": "OutOfMemoryError" if out_of_memory else kind.__name__, "message": str(error)}
        strip_traceback(error)
        self._previous_hook(kind, error, error.__traceback__)

    def _end(self) -> None:
        torch = self._torch
        time.sleep(_RACE_SECONDS)
        if not torch.cuda.is_initialized():
            return
        name, rank = f"process-{os.getpid()}", os.environ.get("RANK", "")
        named = Path(self._plan.folder) / f"rank{rank}.pickle"
        is_named = rank.isdecimal() and not named.exists()
        snapshot = self._dump(named if is_named else named.with_name(f"{name}.pickle"))
        defaults, launches = self._card.calls()
        report = {
            "snapshot": snapshot,
            "pid": os.getpid(),
            "torch": torch.__version__,
            "rank": int(rank) if rank.isdecimal() else None,
            "world": self._plan.world,
            "failure": self._failure,
            "seconds": time.monotonic() - self._began,
            "launches": self._card.launches(),
            "assumptions": self._assumptions.to_json(),
            "default_answers": defaults,
            "kernel_libraries": _by_name(launches),
            "devices": [self._device(index) for index in range(torch.cuda.device_count())],
        }
        path = Path(self._plan.folder) / f"{name}.json"
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(report), encoding="utf-8")
        unfinished.rename(path)

    def _dump(self, path: Path) -> str | None:
        """Write the recording; the name of its file, None where this allocator keeps none."""
        memory = self._torch.cuda.memory
        if memory.get_allocator_backend() != "native":
            return None
        recorded = memory._snapshot()
        with path.open("wb") as file:
            pickle.dump(recorded, file, protocol=4)
        return path.name

    def _device(self, index: int) -> dict[str, Any]:
        cuda, counters = self._torch.cuda, self._card.counters(index)
        stats = cuda.memory_stats(index)
        return {
            "device": index,
            "allocated_bytes_peak": cuda.max_memory_allocated(index),
            "reserved_bytes_peak": cuda.max_memory_reserved(index),
            "driver_bytes_peak": counters.used_peak,
            "driver_refusals": counters.refusals,
            "charges": {
                name: {"count": n, "bytes_peak": size} for name, (n, size) in self._card.charges(index).items()
            },
            "retries": int(stats.get("num_alloc_retries", 0)),
            "ooms": int(stats.get("num_ooms", 0)),
        }


def _by_name(launches: dict[str, int]) -> dict[str, int]:
    """Counts by the names of files; two folders may hold libraries of one name."""
    named: dict[str, int] = {}
    for path, count in launches.items():
        named[Path(path).name] = named.get(Path(path).name, 0) + count
    return named
