"""The allocator's settings after PyTorch has read a settings string.

Values only: what a string means lies in `parse`, what each option does in `options`. Sizes are bytes, and ``None`` is
"unlimited". A `Settings` built without arguments is what PyTorch starts with when no variable is set.
"""

from __future__ import annotations

from dataclasses import dataclass

from gapless.units import MIB

INTERVALS = 16
"""Number of size classes of roundup_power2_divisions: below 2 MiB, 2 to 4 MiB, ..., from 32 GiB."""


@dataclass(frozen=True)
class Settings:
    """One allocator's settings; every field is named as in PyTorch, without the unit in its option's name.

    >>> Settings(max_split_size=128 * MIB).max_split_size
    134217728
    """

    max_split_size: int | None = None
    """Blocks of at least so many bytes are never cut; None: every block may be cut."""
    max_non_split_rounding: int = 20 * MIB
    """An uncut block may be larger than its request by less than so many bytes."""
    large_segment_size: int = 20 * MIB
    """Bytes of the segments that serve requests over 1 MiB and under 10 MiB."""
    roundup_power2_divisions: tuple[int, ...] = (0,) * INTERVALS
    """Steps between two powers of two to which requests are rounded up, by size class; 0: off."""
    garbage_collection_threshold: float = 0.0
    """Fraction of the memory limit above which cached segments are given back; 0: off."""
    expandable_segments: bool = False
    per_process_memory_fraction: float = 1.0
    """Fraction of the card's memory that this process may reserve."""
    throw_on_cudamalloc_oom: bool = False
    release_lock_on_cudamalloc: bool = False
    graph_capture_record_stream_reuse: bool = False
    backend: str = "native"
    pinned_use_cuda_host_register: bool = False
    pinned_num_register_threads: int = 1
    pinned_use_background_threads: bool = False
    pinned_reserve_segment_size: int = 0
    """Bytes of host memory pinned ahead, from which small pinned blocks are cut; 0: none."""
    pinned_free_catch_all: bool = False
    pinned_max_round_threshold: int | None = None
    """Pinned blocks over so many bytes are not rounded to a power of two; None: all are."""
    pinned_max_cached_size: int | None = None
    """Pinned blocks over so many bytes are not kept for reuse; None: all are."""

    def divisions(self, request_bytes: int) -> int:
        """Divisions that hold for a request, by its power of two; 0: off.

        >>> Settings(roundup_power2_divisions=(2,) + (4,) * 15).divisions(2 * MIB - 1)
        2
        """
        return self.roundup_power2_divisions[interval_of(request_bytes)]


def interval_of(request_bytes: int) -> int:
    """Index of the size class of a request: 0 below 2 MiB, k from 2**k MiB, 15 from 32 GiB.

    >>> interval_of(2 * MIB - 1), interval_of(2 * MIB), interval_of(1 << 50)
    (0, 1, 15)
    """
    return min(max(request_bytes.bit_length() - MIB.bit_length(), 0), INTERVALS - 1)
