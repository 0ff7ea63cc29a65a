"""PyTorch's out-of-memory message, of 1.0 to 2.14, read into numbers with the bounds that their rounding leaves.

Every field is optional because texts get cut; a field that the text does not print is None, never a guess. Texts of
other devices (XPU, NPU, MPS) are not this message, whatever they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gapless.sources.log.amount import Amount
from gapless.sources.log.origin import Origin

TEXT_MAX = 2000  # characters of a message that are kept


@dataclass(frozen=True)
class OomMessage:
    """One message. Sizes are what the text printed, in bytes.

    `allocated` is PyTorch's "is allocated by PyTorch", which from 2.4 includes `private_pools`: free blocks that CUDA
    graphs and memory pools keep. `unallocated` is "reserved by PyTorch but unallocated", without them. In the wording
    in parentheses (up to 2.0) the text prints `reserved` instead.
    """

    wording: str  # parenthesis, sentences, preemptive, too_large, async or bare
    text: str
    line: int = 0  # 1-based; 0 when not from a file
    origin: Origin = field(default_factory=Origin)
    backend: str = "CUDA"  # or HIP
    releases: tuple[str, ...] = ()  # that word it so; empty when the text fits none
    device: int | None = None
    request: Amount | None = None  # bytes asked from the card: the segment, not the tensor
    capacity: Amount | None = None
    free: Amount | None = None  # of the card, after PyTorch gave back what it could
    this_process: Amount | None = None
    processes: tuple[tuple[int, Amount], ...] = ()  # pid and memory; inside a container one of them may be this one
    allowed: Amount | None = None  # the memory fraction in bytes
    allocated: Amount | None = None
    private_pools: Amount | None = None
    unallocated: Amount | None = None
    reserved: Amount | None = None
    hint: str | None = None  # max_split_size_mb, expandable_segments or unreadable; None when there is none
    is_cut: bool = False  # the text ends before the message does
    is_quoted: bool = False  # stands in source code, a comment or advice: nothing failed here
    repeats: int = 1  # times that this process printed it

    @property
    def is_whole(self) -> bool:
        """Whether it has the numbers that tell of the card and of PyTorch, as no example written by hand does."""
        return None not in (self.request, self.capacity, self.free, self.allocated)
