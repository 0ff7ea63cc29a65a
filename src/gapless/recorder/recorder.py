"""The recorder of a process: it waits for PyTorch, then for CUDA, and from then on for whatever happens."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any

from gapless.import_hook import on_import
from gapless.recorder import phase
from gapless.recorder.failure import failure_of, is_of_memory
from gapless.recorder.hooks import Hooks
from gapless.recorder.quiet import quietly, say, say_once
from gapless.recorder.recording import Occasion, Recording

if TYPE_CHECKING:
    from gapless.recorder.failure import Failure
    from gapless.recorder.memory import Memory
    from gapless.recorder.options import Options

_HERE = "what happens cannot be recorded"


class Recorder:
    """One for a process. Nothing is written as long as PyTorch does not use a GPU."""

    current: Recorder | None = None
    """The one of this process."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._hooks = Hooks()
        self._torch: Any = None
        self._recording: Recording | None = None
        self._error: Failure | None = None
        self._over_threshold = False
        self._ended = self._process_ends = False

    def begin(self) -> bool:
        """Record from now on, or from when PyTorch is imported and uses a GPU; False where another one does."""
        if Recorder.current is not None:
            say_once("this process is recorded already; what was asked for first counts")
            return False
        Recorder.current = self
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "cuda"):
            self._found_torch(torch)
        else:
            on_import("torch", self._found_torch)
        return True

    def end(self, error: BaseException | None = None) -> None:
        """The program, or the part of it that was to be recorded, is over."""
        recording, self._recording = self._recording, None
        Recorder.current = None
        if self._ended:
            return
        self._ended = True
        if recording is not None and recording.pid == os.getpid():
            self._last(recording, error)
        self._hooks.remove()

    def _at_exit(self) -> None:
        self._process_ends = True
        self.end()

    @quietly(_HERE)
    def _found_torch(self, torch: Any) -> None:
        self._torch = torch
        torch.cuda._lazy_call(self._found_cuda)

    @quietly(_HERE)
    def _found_cuda(self) -> None:
        if self._ended:
            return
        recording = Recording(self._torch, self._options)
        self._recording = recording
        self._watch_memory(recording)
        self._hooks.at_optimizer(self._before_optimizer, self._after_optimizer)
        self._hooks.at_exception(self._exception)
        self._hooks.at_signal(self._options.signal, self._signalled)
        self._hooks.at_exit(self._at_exit)

    @quietly("PyTorch does not tell of requests that fail")
    def _watch_memory(self, recording: Recording) -> None:
        @quietly(_HERE)
        def observer(device: int, requested_bytes: int, limit_bytes: int, free_bytes: int) -> None:
            if self._recording is recording:  # PyTorch knows no way to take an observer back
                recording.out_of_memory(device, requested_bytes, limit_bytes, free_bytes)

        self._torch._C._cuda_attach_out_of_memory_observer(observer)

    @quietly(_HERE)
    def _before_optimizer(self, optimizer: object) -> None:
        if self._recording is not None and self._recording.pid == os.getpid():
            self._recording.steps.before_optimizer(optimizer)

    @quietly(_HERE)
    def _after_optimizer(self, optimizer: object) -> None:
        if self._recording is not None and self._recording.pid == os.getpid():
            self._check_threshold(self._recording, self._recording.steps.after_optimizer(optimizer))

    def _check_threshold(self, recording: Recording, devices: list[Memory]) -> None:
        """Once a run: a job that is full once is so at each step."""
        most = self._options.threshold
        if not most or self._over_threshold:
            return
        if any(one.device_total_bytes - one.device_free_bytes >= most * one.device_total_bytes for one in devices):
            self._over_threshold = True
            recording.occasion(Occasion("threshold", phase="optimizer"))

    @quietly(_HERE)
    def _signalled(self) -> None:
        if self._recording is not None:
            where = phase.phase_now(self._torch), phase.stack_now()
            self._recording.occasion(Occasion("signal", None, *where))

    @quietly(_HERE)
    def _exception(self, error: BaseException) -> None:
        """Nobody caught it."""
        recording = self._recording
        if recording is None:
            return
        self._error = failure_of(error)
        is_torchs = isinstance(error, self._torch.cuda.OutOfMemoryError)
        if is_torchs and recording.failed and not recording.has_unwritten_failure:
            return  # written when the request failed
        if is_of_memory(self._torch, error):
            trace = error.__traceback__
            where = phase.phase_of_traceback(trace), phase.stack_of_traceback(trace)
            reason = "out_of_memory" if is_torchs else "library_out_of_memory"
            recording.occasion(Occasion(reason, self._error, *where, ends_program=True))

    @quietly(_HERE)
    def _last(self, recording: Recording, error: BaseException | None) -> None:
        if error is not None:
            self._recording = recording
            self._exception(error)
            self._recording = None
        recording.occasion(Occasion("exit", self._error, ends_program=True))
        recording.stop(process_ends=self._process_ends)
        if recording.failed:
            folder = shlex.quote(os.path.relpath(recording.files.folder))
            say(f"the failure is recorded in {folder}; to see why: gapless explain {folder}")
