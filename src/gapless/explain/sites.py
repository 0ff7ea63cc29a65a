"""Sites: from where in the reader's program an allocation was called, leaving out what happens inside a call of torch.

    <module> -> main -> train (train.py:41) -> Module.__call__ -> forward (model.py:9) -> Block.__call__ -> ...
    |------------- the path of the site ------------|  callee: module

A call of a model begins where torch's Module is called, or at the first function named forward: recordings with native
frames often lack torch's own.
All allocations of one call of the model thus have one site, however many layers there are; a site comes again only
when the program's own loop comes round. Decorators of torch between the reader's frames are looked through.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gapless.explain.frames import Origin, origin_of

if TYPE_CHECKING:
    from gapless.explain.finding import Frame, Stack

Callee = Literal["", "module", "optimizer", "backward", "torch"]
"""What the innermost frame of the path calls; empty: an operation of torch that leaves no frame."""

_THROUGH = re.compile(
    r"(?:^|/)torch/(?:utils/_contextlib\.py|amp/|cuda/amp/|autograd/grad_mode\.py|distributed/(?:elastic|launcher|run)"
    r"|multiprocessing/|_dynamo/|utils/_device\.py|profiler/|autograd/profiler\.py|_compile\.py)"
)
_MODULE = re.compile(r"(?:^|/)torch/nn/modules/module\.py$")
_OPTIMIZER = re.compile(r"(?:^|/)torch/optim/")
_AUTOGRAD = re.compile(r"(?:^|/)torch/autograd/")
_CALLS = ("_call_impl", "_wrapped_call_impl", "__call__")


@dataclass(frozen=True)
class Site:
    """A path through the reader's code, outermost first, and what it calls."""

    path: tuple[Frame, ...]
    callee: Callee


NOWHERE = Site((), "")
"""Without a frame of the reader's: threads of autograd, native code, or nothing recorded."""


def site_of(stack: Stack) -> Site:
    """The site of a stack (innermost first).

    >>> model = "site-packages/torch/nn/modules/module.py"
    >>> site_of((("model.py", 9, "forward"), (model, 1783, "_wrapped_call_impl"), ("train.py", 41, "train")))
    Site(path=(('train.py', 41, 'train'),), callee='module')
    """
    path: list[Frame] = []
    for frame in reversed(stack):
        file = frame[0].replace("\\", "/")
        origin = origin_of(frame[0])
        if origin is Origin.NATIVE or (origin is Origin.TORCH and _THROUGH.search(file)):
            continue
        if origin is Origin.TORCH:
            return Site(tuple(path), _callee(file, frame[2])) if path else NOWHERE
        if frame[2] == "forward" and path:
            return Site(tuple(path), "module")
        path.append(frame)
    return Site(tuple(path), "") if path else NOWHERE


def _callee(file: str, function: str) -> Callee:
    if _MODULE.search(file):
        return "module" if function in _CALLS else "torch"
    if _OPTIMIZER.search(file):
        return "optimizer"
    is_backward = _AUTOGRAD.search(file) or (function == "backward" and file.endswith("torch/_tensor.py"))
    return "backward" if is_backward else "torch"
