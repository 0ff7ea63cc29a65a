"""A place in a program as reports show it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gapless.explain.finding import Frame

_INSTALLED = re.compile(r"^.*[/\\](?:site|dist)-packages[/\\]")


def place(frame: Frame | None) -> str:
    """A frame in one line. Of an installed package's file, where it is installed is left out.

    >>> place(("train.py", 41, "step")), place(("Blas.cpp", 0, "addmm")), place(None)
    ('train.py:41 step', 'Blas.cpp addmm', '(no stack recorded)')
    >>> place(("/home/ann/venv/lib/python3.12/site-packages/torch/optim/adam.py", 220, "step"))
    'torch/optim/adam.py:220 step'
    """
    if frame is None:
        return "(no stack recorded)"
    file, line, function = frame
    file = _INSTALLED.sub("", file)
    return f"{file}:{line} {function}" if line else f"{file} {function}".strip()
