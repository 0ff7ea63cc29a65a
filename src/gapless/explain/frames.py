"""Whose code a frame is, told by its file: the reader's, a library's, torch's, or native.

A place is the innermost frame of the reader's own code: the line to look at. Where a stack has none (a script that
only calls libraries) the innermost frame of a library is taken, then of torch.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.explain.finding import Frame


class Origin(IntEnum):
    """Whose code; the smaller, the nearer to the reader."""

    USER = 0
    LIBRARY = 1
    TORCH = 2
    NATIVE = 3


_TORCH = re.compile(
    r"(?:^|/)torch/(?:nn|optim|autograd|utils|amp|cuda|distributed|functional\.py|_\w+(?:/|\.py)|storage\.py|"
    r"serialization\.py|library\.py|jit|fx|func|sparse|ao|overrides\.py|random\.py|multiprocessing|compiler|masked|"
    r"distributions|linalg|special|fft|nested|profiler|__init__\.py)|(?:site|dist)-packages/(?:torch|triton|torchgen)/"
)
_GENERATED = re.compile(r"torchinductor_|^<eval_with_key>|/triton/|codegen\(|^<string>|^<@beartype|einx/")
_LIBRARY = re.compile(r"(?:site|dist)-packages/|/lib/python\d|/python\d[^/]*/lib/|/python/cpython-|^<frozen ")
_NO_PLACE = re.compile(r"^$|^\?\?$|CachingAllocator|memory_snapshot|^<unknown")
_SCRIPT = re.compile(r"\.(?:py|pyx|pyi|ipynb)$|^<ipython|^<stdin>|/ipykernel_\d+/|^/tmp/ipykernel", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def origin_of(file: str) -> Origin:
    """Whose code a file is.

    >>> origin_of("train.py").name, origin_of("C:\\\\env\\\\lib\\\\site-packages\\\\torch\\\\_tensor.py").name
    ('USER', 'TORCH')
    >>> origin_of("CUDACachingAllocator.cpp").name, origin_of("/venv/lib/python3.12/site-packages/x/y.py").name
    ('NATIVE', 'LIBRARY')
    """
    path = file.replace("\\", "/")
    if _GENERATED.search(path) or _TORCH.search(path):
        return Origin.TORCH
    if not _SCRIPT.search(path.lower() if "." in path else path) and not path.startswith("<ipython"):
        return Origin.NATIVE
    return Origin.LIBRARY if _LIBRARY.search(path.lower()) else Origin.USER


def place_index(frames: Sequence[Frame]) -> int:
    """Index of the frame to look at: the innermost one of the nearest origin; -1 when no frame names a file."""
    best, rank = -1, len(Origin)
    for index, (file, _, _) in enumerate(frames):
        origin = origin_of(file)
        if origin < rank and not (origin is Origin.NATIVE and _NO_PLACE.search(file)):
            best, rank = index, origin
            if origin is Origin.USER:
                break
    return best


def short_place(frame: Frame | None) -> str:
    """A place as people write it.

    >>> short_place(("/home/ann/train.py", 41, "step")), short_place(("Blas.cpp", 0, "addmm")), short_place(None)
    ('train.py:41', 'Blas.cpp', 'an unrecorded place')
    """
    if frame is None:
        return "an unrecorded place"
    name = frame[0].replace("\\", "/").rpartition("/")[2] or frame[2] or "?"
    return f"{name}:{frame[1]}" if frame[1] else name
