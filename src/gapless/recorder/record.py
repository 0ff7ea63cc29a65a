"""`with gapless.record("folder"):` records the part of a program that stands in it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from gapless.recorder.options import Options
from gapless.recorder.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def record(
    folder: str = "gapless-recording",
    *,
    max_events: int = Options.max_events,
    snapshot_seconds: float = Options.snapshot_seconds,
    threshold: float = Options.threshold,
    signal: str = Options.signal,
    reset_peaks: bool = Options.reset_peaks,
) -> Iterator[None]:
    """Record what PyTorch does with GPUs' memory, and write it down when memory runs out, and at the end.

    Without a GPU nothing happens. Nothing that goes wrong in the recorder is raised.

    Args:
        folder: Where files are written, a few for each process; `gapless explain FOLDER` reads it.
        max_events: Most events that each device keeps; 300 to 900 bytes of host memory each.
        snapshot_seconds: Longest that writing one snapshot may take; 0 writes none.
        threshold: Part of a device's memory, 0 to 1, at which a snapshot is written once; 0 for never.
        signal: Name of the signal at which a snapshot is written (`USR1`), `none`, or `auto`.
        reset_peaks: Whether PyTorch's peaks begin anew with each step.

    Raises:
        ValueError: One of them is out of range.
    """
    options = Options(folder, max_events, snapshot_seconds, threshold, signal, reset_peaks)
    recorder = Recorder(options)
    has_begun = recorder.begin()
    try:
        yield
    except BaseException as error:
        if has_begun:
            recorder.end(error)
        raise
    if has_begun:
        recorder.end()
