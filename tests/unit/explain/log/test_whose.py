"""Whose a failure is, where the log's lines name their rank."""

from __future__ import annotations

import pytest

from tests.integration.run import gapless

PYTORCH = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 24.00 GiB of"
    " which 1.44 GiB is free. Including non-PyTorch memory, this process has 22.56 GiB memory in use. Of the allocated"
    " memory 16.49 GiB is allocated by PyTorch, and 5.57 GiB is reserved by PyTorch but unallocated.\n"
)


@pytest.mark.parametrize(("prefix", "said"), [("[rank3]: ", "(line 1, rank 3)"), ("", "(line 1)")])
def test_a_message_alone_is_printed_with_its_rank(prefix: str, said: str) -> None:
    lines = gapless("explain", "-", stdin=(prefix + PYTORCH).encode()).stdout.splitlines()

    assert f"The message {said}" in lines


@pytest.mark.parametrize(("prefix", "said"), [("[rank3]: ", "NCCL of rank 3 could not"), ("", "NCCL could not")])
def test_a_library_that_failed_is_that_of_its_rank(prefix: str, said: str) -> None:
    lines = ("NCCL error in: ProcessGroupNCCL.cpp:77", "Last error:", "Cuda failure 2 'out of memory'")
    text = "".join(f"{prefix}{line}\n" for line in lines)

    assert said in gapless("explain", "-", stdin=text.encode()).stdout
