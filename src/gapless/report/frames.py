"""A place in a program as reports show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gapless.explain.finding import Frame


def place(frame: Frame | None) -> str:
    """A frame in one line.

    >>> place(("train.py", 41, "step")), place(("Blas.cpp", 0, "addmm")), place(None)
    ('train.py:41 step', 'Blas.cpp addmm', '(no stack recorded)')
    """
    if frame is None:
        return "(no stack recorded)"
    file, line, function = frame
    return f"{file}:{line} {function}" if line else f"{file} {function}".strip()
