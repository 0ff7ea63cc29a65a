"""PyTorch's out-of-memory message as each release composes it, written from the specification's table of pieces."""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
SENTENCE_RELEASES = tuple(f"2.{minor}" for minor in range(1, 15))
PARENTHESIS_RELEASES = ("1.10", "1.11", "1.12", "1.13", "2.0")


def printed(size: int) -> str:
    """A size as PyTorch prints it."""
    if size <= KIB:
        return f"{size} bytes"
    for unit, name in ((KIB, "KiB"), (MIB, "MiB")):
        if size <= unit * KIB:
            return f"{size / unit:.2f} {name}"
    return f"{size / GIB:.2f} GiB"


@dataclass(frozen=True)
class Truth:
    """What happened, in bytes; absent pieces are None."""

    device: int = 0
    request: int = 22 * MIB
    capacity: int = 24 * GIB
    free: int = 11 * MIB
    this_process: int | None = None
    processes: tuple[tuple[int, int], ...] = ()
    allowed: int | None = None
    in_use: int = 20 * GIB
    private_free: int = 0
    reserved: int = 23 * GIB
    is_expandable: bool = False

    def text(self, release: str) -> str:
        """The message of a release."""
        return self._parenthesis() if release in PARENTHESIS_RELEASES else self._sentences(release)

    def _parenthesis(self) -> str:
        allowed = f"{printed(self.allowed)} allowed; " if self.allowed is not None else ""
        return (
            f"CUDA out of memory. Tried to allocate {printed(self.request)} (GPU {self.device}; "
            f"{printed(self.capacity)} total capacity; {printed(self.in_use)} already allocated; "
            f"{printed(self.free)} free; {allowed}{printed(self.reserved)} reserved in total by PyTorch)"
            " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
            "  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF"
        )

    def _sentences(self, release: str) -> str:
        minor = int(release.partition(".")[2])
        private = self.private_free if minor >= 4 else 0
        device = chr(self.device) if minor == 3 else str(self.device)
        text = (
            f"CUDA out of memory. Tried to allocate {printed(self.request)}. GPU {device} has a total "
            f"{'capacty' if minor == 1 else 'capacity'} of {printed(self.capacity)} "
            f"of which {printed(self.free)} is free. "
        )
        if self.this_process is not None:
            text += f"Including non-PyTorch memory, this process has {printed(self.this_process)} memory in use. "
        text += "".join(f"Process {pid} has {printed(size)} memory in use. " for pid, size in self.processes)
        if self.allowed is not None:
            text += f"{printed(self.allowed)} allowed; "
        text += f"Of the allocated memory {printed(self.in_use + private)} is allocated by PyTorch, "
        if private:
            text += f"with {printed(private)} allocated in private pools (e.g., CUDA Graphs), "
        text += f"and {printed(self.reserved - self.in_use - private)} is reserved by PyTorch but unallocated."
        return text + self._hint(minor)

    def _hint(self, minor: int) -> str:
        start = " If reserved but unallocated memory is large try setting "
        end = " to avoid fragmentation.  See documentation for Memory Management "
        if minor == 1:
            return f"{start}max_split_size_mb{end}and PYTORCH_CUDA_ALLOC_CONF"
        if minor == 14 and self.is_expandable:
            return ""
        variable = "PYTORCH_ALLOC_CONF" if minor == 10 else "PYTORCH_CUDA_ALLOC_CONF"
        old = "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables"
        new = (
            "https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf"
        )
        return f"{start}{variable}=expandable_segments:True{end} ({old if minor <= 10 else new})"
