"""Where the recorder is told what happens in a process, and how it lets go again."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from gapless.recorder.quiet import quietly, say_once

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

_GOES_ON = {"USR1", "USR2"}
"""Signals at which the program goes on; at others it then ends as it would have."""


class Hooks:
    """What was put in, each with how it is taken out."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], object]] = []

    def remove(self) -> None:
        """Take out all that can be; others may have put theirs around ours."""
        for undo in reversed(self._undo):
            quietly("a hook cannot be removed")(undo)()
        self._undo.clear()

    def at_optimizer(self, before: Callable[[object], None], after: Callable[[object], None]) -> None:
        """Around each step of an optimizer."""
        from torch.optim.optimizer import (  # noqa: PLC0415  (it is loaded)
            register_optimizer_step_post_hook,
            register_optimizer_step_pre_hook,
        )

        def pre(optimizer: object, args: Any, kwargs: Any) -> None:
            before(optimizer)

        def post(optimizer: object, args: Any, kwargs: Any) -> None:
            after(optimizer)

        pre._torchdynamo_disable = post._torchdynamo_disable = True  # type: ignore[attr-defined]
        self._undo.append(register_optimizer_step_pre_hook(pre).remove)
        self._undo.append(register_optimizer_step_post_hook(post).remove)

    def at_exception(self, told: Callable[[BaseException], None]) -> None:
        """Of an exception that ends the program, or a thread of it; what would be said of it is said first."""
        previous, previous_of_threads = sys.excepthook, threading.excepthook

        def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
            previous(kind, error, traceback)
            told(error)

        def hook_of_threads(args: threading.ExceptHookArgs, /) -> None:
            previous_of_threads(args)
            if args.exc_value is not None:
                told(args.exc_value)

        sys.excepthook, threading.excepthook = hook, hook_of_threads

        def undo() -> None:
            if sys.excepthook is hook:
                sys.excepthook = previous
            if threading.excepthook is hook_of_threads:
                threading.excepthook = previous_of_threads

        self._undo.append(undo)

    def at_exit(self, told: Callable[[], None]) -> None:
        """When the interpreter ends, or a process that multiprocessing started, which skips what atexit knows."""
        atexit.register(told)
        self._undo.append(lambda: atexit.unregister(told))
        processes = sys.modules.get("multiprocessing.process")
        if processes is not None and processes.parent_process() is not None:
            from multiprocessing.util import Finalize  # noqa: PLC0415

            self._undo.append(Finalize(None, told, exitpriority=0).cancel)

    def at_signal(self, name: str, told: Callable[[], None]) -> None:
        """At a signal that has no handler yet.

        `auto` is USR1, but not under Slurm: there it may ask programs to end, and some take it only where it is free.
        """
        if name == "none" or (name == "auto" and "SLURM_JOB_ID" in os.environ):
            return
        is_asked, name = name != "auto", "USR1" if name == "auto" else name
        number = getattr(signal, f"SIG{name.removeprefix('SIG')}", None)
        in_main_thread = threading.current_thread() is threading.main_thread()
        if number is None or not in_main_thread or signal.getsignal(number) != signal.SIG_DFL:
            if is_asked:
                say_once(f"the signal {name} is not ours to use: it is unknown, has a handler, or a thread began this")
            return

        def handle(number: int, frame: FrameType | None) -> None:
            told()
            if name.removeprefix("SIG") not in _GOES_ON:
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)

        signal.signal(number, handle)

        def undo() -> None:
            if signal.getsignal(number) is handle:
                signal.signal(number, signal.SIG_DFL)

        self._undo.append(undo)
