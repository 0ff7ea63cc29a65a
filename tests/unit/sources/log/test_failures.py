"""Failures of libraries, and the table of memory_summary()."""

from __future__ import annotations

import io

import pytest

from gapless.sources.log import Amount, LibraryFailure, LogScan, scan_log
from tests.unit.sources.log.messages import KIB, MIB, Truth
from tests.unit.sources.log.reports import reports


def scan(text: str) -> LogScan:
    """A scan of a whole text."""
    return scan_log(io.BytesIO(text.encode()))


NCCL = """\
[rank5]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:340, \
unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5
[rank5]: ncclUnhandledCudaError: Call to CUDA function failed.
[rank5]: Last error:
[rank5]: """


@pytest.mark.parametrize(
    ("text", "library", "is_memory", "request_bytes"),
    [
        (NCCL + "Cuda failure 'out of memory'", "NCCL", True, None),
        (NCCL + "Cuda failure 2 'out of memory'", "NCCL", True, None),
        (NCCL + 'Cuda failure 2 "out of memory"', "NCCL", True, None),
        (NCCL + r"Cuda failure 2 \"out of memory\"", "NCCL", True, None),
        (NCCL + "Failed to CUDA calloc 8388608 bytes", "NCCL", True, 8388608),
        (NCCL + "Failed to CUDA calloc async 4194304 bytes", "NCCL", True, 4194304),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "cuBLAS", True, None),
        ("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", "cuBLAS", False, None),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "cuDNN", True, None),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED", "cuDNN", False, None),
        ("RuntimeError: cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling", "cuSOLVER", True, None),
        ("CUDA error: out of memory\nCUDA kernel errors might be", "the CUDA runtime", True, None),
        ("RuntimeError: HIP error: out of memory", "the HIP runtime", True, None),
        ("RuntimeError: Triton Error [CUDA]: out of memory", "Triton", True, None),
    ],
)  # fmt: skip
def test_libraries_are_told_apart(text: str, library: str, is_memory: bool, request_bytes: int | None) -> None:
    found = scan(f"start\n{text}\n")

    (failure,) = found.libraries
    assert (failure.library, failure.is_memory, failure.request_bytes) == (library, is_memory, request_bytes)
    assert (failure.is_quoted, found.messages) == (False, ())


def test_lines_of_one_nccl_failure_stand_apart_with_their_origin() -> None:
    text = (
        "node3:3063028:3066152 [3] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'\n\n"
        "node3:3063028:3066152 [3] include/alloc.h:185 NCCL WARN Failed to CUDA calloc 6291456 bytes\n"
    )

    first, second = scan(text).libraries

    assert (first.line, first.request_bytes, first.origin.pid) == (1, None, 3063028)
    assert (second.line, second.request_bytes, second.origin.pid) == (3, 6291456, 3063028)


@pytest.mark.parametrize("line", ["NCCL WARN Cuda failure 'invalid argument'", "Failed to CUDA host alloc 64 bytes"])
def test_other_failures_of_nccl_are_not_about_memory(line: str) -> None:
    assert scan(line).libraries == ()


def test_a_message_is_no_library_failure_too() -> None:
    found = scan(f"RuntimeError: {Truth().text('2.6')}\n")

    assert (len(found.messages), found.libraries, found.foreign) == (1, (), ())


def test_a_failure_printed_again_counts_as_a_repeat() -> None:
    found = scan("RuntimeError: CUDA error: out of memory\n" * 5)

    assert [(failure.line, failure.repeats) for failure in found.libraries] == [(1, 5)]
    assert isinstance(found.libraries[0], LibraryFailure)


def test_a_whole_table_is_read() -> None:
    (summary,) = scan(reports()["r128"]["memory_summary"]).summaries

    assert (summary.device, summary.line, summary.ooms, summary.retries) == (0, 2, 1, 1)
    assert summary.allocated == Amount(682537 * KIB, 682537 * KIB, 682538 * KIB - 1)
    assert summary.active == summary.allocated
    assert summary.requested == Amount(682012 * KIB, 682012 * KIB, 682013 * KIB - 1)
    assert summary.reserved == Amount(66984 * MIB, 66984 * MIB, 66985 * MIB - 1)
    assert summary.non_releasable == Amount(7639 * KIB, 7639 * KIB, 7640 * KIB - 1)
    assert summary.allocated_peak == Amount(65430 * MIB, 65430 * MIB, 65431 * MIB - 1)
    assert summary.reserved_peak == summary.reserved
    assert summary.cached is not None
    assert summary.cached.value == (66984 * KIB - 682537) * KIB


@pytest.mark.parametrize(("report", "reserved"), [("r017", 12420 * MIB), ("r018", None), ("r123", None)])
def test_a_table_that_was_cut_keeps_its_rows(report: str, reserved: int | None) -> None:
    (summary,) = scan(reports()[report]["memory_summary"]).summaries

    assert summary.allocated is not None
    assert (summary.reserved and summary.reserved.value) == reserved
    assert (summary.cached is None) == (reserved is None)


def test_a_table_with_prefixes_on_its_lines() -> None:
    lines = reports()["r128"]["memory_summary"].splitlines()
    plain = scan("\n".join(lines)).summaries[0]

    (summary,) = scan("\n".join(f"[rank2]: {line}" for line in lines)).summaries

    assert summary.origin.rank == 2
    assert (summary.reserved, summary.allocated) == (plain.reserved, plain.allocated)


def test_of_many_tables_the_last_before_and_the_first_after_a_failure_are_kept() -> None:
    def table(size: int) -> str:
        head = "|                  PyTorch CUDA memory summary, device ID 0                 |\n"
        return f"{head}| Allocated memory      |   {size} MiB |   {size} MiB |\n"

    text = "".join(map(table, range(10, 20))) + Truth().text("2.6") + "\n" + "".join(map(table, range(20, 30)))

    assert [summary.allocated.value // MIB for summary in scan(text).summaries if summary.allocated] == [19, 20]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("step 1\nsome engine: device out of memory\nbye\n", 2),
        ("CUDA error: out of memory\n" + "step\n" * 3 + "engine: out of memory!\n", 5),
        ("engine: out of memory!\nCUDA error: out of memory\n", 1),
        ("CUDA error: out of memory\n", None),
        ("step 1\n", None),
    ],
)
def test_the_first_line_about_memory_that_is_not_understood_is_named(text: str, line: int | None) -> None:
    assert scan(text).not_understood == line
