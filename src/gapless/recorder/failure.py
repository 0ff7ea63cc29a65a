"""Which exceptions mean that memory ran out: PyTorch's own, and those of the libraries beside it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

_LIBRARIES = (("nccl", "NCCL"), ("cublas", "cuBLAS"), ("cudnn", "cuDNN"), ("cusolver", "cuSOLVER"), ("cufft", "cuFFT"))
_WORDS = ("out of memory", "alloc_failed", "cudaerrormemoryallocation", "failed to cuda calloc")
_MOST_CHARS = 4000


@dataclass(frozen=True)
class Failure:
    """What failed, as far as is known."""

    type: str
    """The exception's name."""
    message: str
    library: str | None = None
    """Who asked for memory; None for PyTorch, and where memory is not the reason."""
    device: int | None = None
    requested_bytes: int | None = None
    limit_bytes: int | None = None
    """What PyTorch may reserve: the device's memory, or the part of it that the program set."""
    device_free_bytes: int | None = None

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return asdict(self)


def failure_of(error: BaseException) -> Failure:
    """What an exception says."""
    text = str(error)[:_MOST_CHARS]
    return Failure(type(error).__name__, text, library=_library_in(text))


def is_of_memory(torch: Any, error: BaseException) -> bool:
    """Whether an exception says that a GPU's memory ran out."""
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and any(word in text for word in _WORDS) and "cpu" not in text[:80]


def failed_request(
    device: int, requested_bytes: int, limit_bytes: int, free_bytes: int, held: dict[str, int]
) -> Failure:
    """A request of PyTorch's that is about to fail; the message is what PyTorch is about to say, in short.

    Args:
        device: Which.
        requested_bytes: Of the request.
        limit_bytes: What PyTorch may reserve.
        free_bytes: What the driver has left.
        held: `allocated_bytes` and `reserved_bytes` of PyTorch.
    """
    unused = held["reserved_bytes"] - held["allocated_bytes"]
    message = (
        f"CUDA out of memory. Tried to allocate {_size(requested_bytes)}. GPU {device} has a total capacity of "
        f"{_size(limit_bytes)} of which {_size(free_bytes)} is free. Of the allocated memory "
        f"{_size(held['allocated_bytes'])} is allocated by PyTorch, and {_size(unused)} is reserved by PyTorch but "
        "unallocated."
    )
    return Failure("OutOfMemoryError", message, None, device, requested_bytes, limit_bytes, free_bytes)


def _library_in(text: str) -> str | None:
    lower = text.lower()
    if not any(word in lower for word in _WORDS):
        return None
    return next((name for word, name in _LIBRARIES if word in lower), None)


def _size(count: int) -> str:
    """As PyTorch writes sizes."""
    if count <= 1024:
        return f"{count} bytes"
    for power, unit in ((1 << 20, "KiB"), (1 << 30, "MiB")):
        if count <= power:
            return f"{count / (power >> 10):.2f} {unit}"
    return f"{count / (1 << 30):.2f} GiB"
