"""Failures in a log that are not PyTorch's own message: a library beside PyTorch's cache, or another framework.

A library (NCCL, cuBLAS, cuDNN, ...) takes memory from the card and not from PyTorch's cache, so it can starve while
the cache is full of free blocks. Other frameworks are named so that people learn where to ask, and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gapless.sources.log.origin import Origin
from gapless.sources.log.text import Squeezed


@dataclass(frozen=True)
class LibraryFailure:
    """A library could not get memory, or may not have got it."""

    library: str
    text: str = ""
    line: int = 0  # 1-based
    origin: Origin = field(default_factory=Origin)
    is_memory: bool = True  # False: the error has other causes as well
    request_bytes: int | None = None
    is_quoted: bool = False
    repeats: int = 1


@dataclass(frozen=True)
class ForeignFailure:
    """An out-of-memory failure of something else, or one of PyTorch without numbers."""

    family: str
    text: str = ""
    line: int = 0  # 1-based
    origin: Origin = field(default_factory=Origin)
    is_quoted: bool = False
    repeats: int = 1


WITHOUT_NUMBERS = "PyTorch, with its numbers left out"
# Over squeezed text. Of rows that begin at the same place the first holds.
_LIBRARIES = (
    ("NCCL", True, r"Cudafailure(?:\d{1,4})?['\"]outofmemory['\"]"),
    ("NCCL", True, r"FailedtoCUDA(?:calloc|malloc)(?:async)?(?P<bytes>\d{1,15})bytes"),
    ("vLLM's sleep-mode allocator", True, r"CUDAError:outofmemoryat[\w./-]{0,120}cumem_allocator\.cpp"),
    ("Triton", True, r"TritonError\[CUDA\]:outofmemory"),
    ("the CUDA runtime", True, r"CUDAerror:outofmemory"),
    ("the HIP runtime", True, r"HIPerror:outofmemory"),
    ("cuBLAS", True, r"BLAS_STATUS_ALLOC_FAILED"),
    ("cuBLAS", False, r"BLAS_STATUS_NOT_INITIALIZED"),
    ("cuDNN", True, r"CUDNN_STATUS_(?:INTERNAL_ERROR_DEVICE_ALLOCATION|ALLOC)_FAILED"),
    ("cuDNN", False, r"CUDNN_STATUS_NOT_INITIALIZED"),
    ("cuSOLVER", True, r"CUSOLVER_STATUS_ALLOC_FAILED"),
    ("cuSPARSE", True, r"CUSPARSE_STATUS_ALLOC_FAILED"),
    ("cuFFT", True, r"CUFFT_ALLOC_FAILED"),
)
_FOREIGN = (
    ("PyTorch before 1.0 (THC), which prints no sizes", r"cudaruntimeerror\(2\):outofmemoryat"),
    ("PyTorch on Intel XPU", r"XPUoutofmemory\."),
    ("PyTorch on Ascend NPU", r"NPUoutofmemory\."),
    ("PyTorch on Apple MPS", r"MPSbackendoutofmemory"),
    ("the BFC allocator of TensorFlow or XLA", r"Allocator\(\w{1,40}\)ranoutofmemorytryingtoallocate"),
    (
        "the BFC allocator of TensorFlow or XLA",
        r"failedtoallocate[\d.]{1,20}[KMGT]?\(\d{1,20}bytes\)fromdevice:CUDA_ERROR",
    ),
    ("the BFC allocator of TensorFlow or XLA", r"bfc_allocator\.cc:\d{1,6}\]"),
    ("XLA (JAX)", r"RESOURCE_EXHAUSTED:(?:Outofmemory|Failedtoallocaterequest)"),
    ("XLA (JAX)", r"Resourceexhausted:Outofmemory"),
    ("RMM", r"std::bad_alloc:(?:out_of_memory:)?(?:RMMfailure|CUDAerror)at:"),
    ("llama.cpp (ggml)", r"ggml_\w{1,80}:allocating[\d.]{1,20}MiBondevice\d{1,4}:cudaMallocfailed:outofmemory"),
    ("vLLM's own start-up checks", r"Noavailablememoryforthecacheblocks"),
    (
        "vLLM's own start-up checks",
        r"maxseqlen\(\d{1,12}\)islargerthanthemaximumnumberoftokensthatcanbestoredinKVcache",
    ),
    ("vLLM's own start-up checks", r"Errorinmemoryprofiling\.Initialfreememory"),
    ("DeepSpeed's warning of memory pressure", r"pytorchallocatorcacheflushessincelaststep"),
    ("vLLM's scheduler", r"thereisnotenoughKVcachespace"),
    (WITHOUT_NUMBERS, r"Allocationondevice\d{0,4}(?!\d|would)"),
    (WITHOUT_NUMBERS, r"CUDAoutofmemory"),
    (WITHOUT_NUMBERS, r"HIPoutofmemory"),
    ("the Linux kernel (host memory)", r"Outofmemory:Killedprocess"),
)
# One pattern a row: each begins with letters, which the engine finds fast; one pattern of all would crawl.
_SIGNS: tuple[tuple[re.Pattern[str], LibraryFailure | ForeignFailure], ...] = tuple(
    [(re.compile(pattern), LibraryFailure(library, is_memory=sure)) for library, sure, pattern in _LIBRARIES]
    + [(re.compile(pattern), ForeignFailure(family)) for family, pattern in _FOREIGN]
)


def find_failures(squeezed: Squeezed) -> Iterator[tuple[int, int, LibraryFailure | ForeignFailure]]:
    """Each failure in squeezed text with its begin and end there; origin, text and line are left to the caller."""
    signs = [
        (match.start(), row, match)
        for row, (pattern, _) in enumerate(_SIGNS)
        for match in pattern.finditer(squeezed.text)
    ]
    at = 0
    for begin, row, match in sorted(signs, key=lambda sign: sign[:2]):
        if begin < at:
            continue
        at, failure = match.end(), _SIGNS[row][1]
        if isinstance(failure, LibraryFailure) and "bytes" in match.re.groupindex:
            failure = replace(failure, request_bytes=int(match["bytes"]))
        yield begin, at, failure
