"""Which part of a training step runs: known by the code that is on the stack, and never guessed."""

from __future__ import annotations

import sys
from types import CodeType, FrameType, TracebackType
from typing import Any

_PLACES = (
    ("torch/optim/optimizer.py", {"wrapper"}, "optimizer"),
    ("torch/autograd/graph.py", {"_engine_run_backward"}, "backward"),
    ("torch/autograd/__init__.py", {"backward", "grad"}, "backward"),
    ("torch/nn/modules/module.py", {"_call_impl"}, "forward"),
)
_OURS = ("/gapless/recorder/", "/gapless/virtual/")
_MOST_LINES = 30


def phase_now(torch: Any) -> str:
    """Of this thread: `forward`, `backward`, `optimizer`, or `other` where none of PyTorch's own loops is on the stack.

    A forward that checkpointing repeats within backward is backward.
    """
    if torch._C._current_graph_task_id() != -1:
        return "backward"
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        phase = _phase_of(frame.f_code)
        if phase:
            return phase
        frame = frame.f_back
    return "other"


def phase_of_traceback(traceback: TracebackType | None) -> str:
    """The same, of where an exception was raised."""
    phase = "other"
    while traceback is not None:
        phase = _phase_of(traceback.tb_frame.f_code) or phase
        traceback = traceback.tb_next
    return phase


def stack_now() -> list[str]:
    """Places in the program, innermost first; none of ours. Empty in a thread of PyTorch's own."""
    lines: list[str] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(lines) < _MOST_LINES:
        if not any(ours in frame.f_code.co_filename for ours in _OURS):
            lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return lines


def stack_of_traceback(traceback: TracebackType | None) -> list[str]:
    """The same, of where an exception was raised."""
    lines: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        lines.append(f"{code.co_filename}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return lines[::-1][:_MOST_LINES]


def _phase_of(code: CodeType) -> str:
    for ending, names, phase in _PLACES:
        if code.co_name in names and code.co_filename.endswith(ending):
            return phase
    return ""
