"""Writing PyTorch's snapshot within a time: how long it takes is reckoned before, from the number of events."""

from __future__ import annotations

import gc
import pickle
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gapless.recorder.files import SNAPSHOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gapless.recorder.files import Files

_PROTOCOL = 4


@dataclass
class Pace:
    """Seconds for one event; begins with what was measured with stacks of usual depth, and learns."""

    take_seconds: float = 8e-6
    write_seconds: float = 3e-6

    def learn(self, events: int, taken_seconds: float, written_seconds: float) -> None:
        """What the last snapshot took."""
        if events >= 1000:  # of few events the rest weighs too much
            self.take_seconds = taken_seconds / events
            self.write_seconds = written_seconds / events


@dataclass(frozen=True)
class Written:
    """What came of it."""

    path: str | None
    """The file's name; None where none was written."""
    events: int
    """In the file."""
    seconds: float
    note: str = ""
    """What is not as was asked for."""

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)


def write_snapshot(torch: Any, files: Files, expected_events: int, budget_seconds: float, pace: Pace) -> Written:
    """Write the snapshot, or of too many events the last ones, or none where even taking it would be too long.

    Args:
        torch: PyTorch.
        files: Where to.
        expected_events: How many events it will hold.
        budget_seconds: How long it may take.
        pace: How long one event takes; learns.

    Raises:
        OSError: It cannot be written.
    """
    expected_seconds = expected_events * (pace.take_seconds + pace.write_seconds)
    if expected_events * pace.take_seconds > budget_seconds:
        note = f"not written: {expected_events} events would take about {expected_seconds:.1f} s"
        return Written(None, 0, 0.0, f"{note}, more than {budget_seconds:g} s")
    began = time.monotonic()
    with _no_collection():
        snapshot = torch.cuda.memory._snapshot()
        taken = time.monotonic()
        count = sum(map(len, snapshot["device_traces"]))
        fitting = int(max(0.0, budget_seconds - (taken - began)) / pace.write_seconds)
        note = "" if fitting >= count else f"the last {fitting} of {count} events: all would take more than the time"
        if note:
            _keep_last(snapshot["device_traces"], fitting)
        with files.written(SNAPSHOT) as file:
            pickle.dump(snapshot, file, protocol=_PROTOCOL)
    ended = time.monotonic()
    kept = sum(map(len, snapshot["device_traces"]))
    pace.learn(kept, (taken - began) * kept / max(1, count), ended - taken)
    return Written(files.path(SNAPSHOT).name, kept, ended - began, note)


def _keep_last(traces: list[list[Any]], most: int) -> None:
    """Drop the oldest events of each device, in proportion."""
    count = sum(map(len, traces))
    for trace in traces:
        del trace[: len(trace) - len(trace) * most // count]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Without looking for cycles among hundreds of thousands of new objects, which have none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
