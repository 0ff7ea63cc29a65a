"""Which errors mean that memory ran out."""

from __future__ import annotations

import pytest

from gapless.recorder.failure import failed_request, failure_of, is_of_memory
from tests.unit.recorder.fake_torch import GIB, FakeTorch


@pytest.mark.parametrize(
    ("message", "library"),
    [
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "cuBLAS"),
        ("NCCL error in: x.cpp:1, unhandled cuda error\nLast error:\nCuda failure 2 'out of memory'", "NCCL"),
        ("cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "cuDNN"),
        ("CUDA error: out of memory", None),
    ],
)
def test_errors_of_memory_are_known(message: str, library: str | None) -> None:
    error = RuntimeError(message)

    assert is_of_memory(FakeTorch(), error)
    assert failure_of(error).library == library


@pytest.mark.parametrize(
    "error",
    [
        ValueError("out of memory"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:75] DefaultCPUAllocator: not enough memory: out of memory"),
        RuntimeError("NCCL error in: x.cpp:1, remote process exited"),
        RuntimeError("CUBLAS_STATUS_EXECUTION_FAILED"),
    ],
)
def test_other_errors_are_not(error: Exception) -> None:
    assert not is_of_memory(FakeTorch(), error)
    assert failure_of(error).library is None


def test_a_failed_request_reads_as_pytorch_says_it() -> None:
    failure = failed_request(1, 20 << 20, 4 * GIB, 512, {"allocated_bytes": 3 * GIB, "reserved_bytes": 3 * GIB + 1536})

    assert failure.message == (
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 1 has a total capacity of 4.00 GiB of which 512 bytes is "
        "free. Of the allocated memory 3.00 GiB is allocated by PyTorch, and 1.50 KiB is reserved by PyTorch but "
        "unallocated."
    )


def test_a_message_without_end_is_cut() -> None:
    assert len(failure_of(RuntimeError("x" * 100_000)).message) == 4000
