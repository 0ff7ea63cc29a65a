"""Every option of PYTORCH_CUDA_ALLOC_CONF, as one table of data: `OPTIONS`.

What an option accepts changed with the releases; each row lists its bounds from the oldest release on, with the words
of PyTorch's own error. How the string around the options is read lies in `dialects` and `parse`. Every bound and error
was compared with the real libraries of 2.1 to 2.14.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gapless.conf.releases import OLDEST, Release


class Kind(Enum):
    """How an option's value is written."""

    BOOL = "True or False"
    MIB = "a whole number of MiB"
    COUNT = "a whole number"
    FRACTION = "a number"
    DIVISIONS = "a power of two, or a list like [256:1,512:2,>:4]"
    BACKEND = "native or cudaMallocAsync"


class Half(Enum):
    """Which of the two readers of 2.10 and later knows an option; before, there was one for all."""

    ACCELERATOR = "Accelerator"
    CUDA = "CUDA"


@dataclass(frozen=True)
class Bounds:
    """What an option's number must satisfy from some release on. Errors are format strings."""

    accepts: str
    """For people."""
    error: str
    """PyTorch's text for a number that is too small; ``{least}`` and ``{got}`` are filled in."""
    since: Release = OLDEST
    least: float = 0
    above_least: bool = False
    """The number must exceed `least`; else it may be equal."""
    least_is_large_segment: bool = False
    """`least` is large_segment_size_mb."""
    most: float | None = None
    below_most: bool = False
    error_most: str = ""
    """PyTorch's text for a number that is too large; empty: as `error`."""
    power_of_two: bool = False
    error_power: str = ""


@dataclass(frozen=True)
class Option:
    """One option, as data."""

    name: str
    field: str
    """Its field in `Settings`."""
    kind: Kind
    default: str
    since: Release
    half: Half
    meaning: str
    """What it does, in one sentence; for a switch, when it is on."""
    meaning_off: str = ""
    """For a switch: what holds when it is off."""
    bounds: tuple[Bounds, ...] = ()
    """Oldest first."""
    aliases: tuple[str, ...] = ()
    host_only: bool = False
    """Concerns pinned memory of the host alone; the card's memory is not touched."""
    reset_since: Release | None = None
    """Every reading of a string first sets it back to its default, from this release on; None: it never does."""
    clamped: bool = True
    """A size too large for 64 bits of bytes counts as the largest; else PyTorch keeps the MiB as they are."""
    value_error: str = ""
    """PyTorch's text for a missing value up to 2.9; empty: "Error, expecting NAME value"."""

    @property
    def for_native(self) -> bool:
        """Whether PyTorch's own allocator is what heeds it."""
        return not self.host_only and self.kind is not Kind.BACKEND

    def meaning_of(self, value: object) -> str:
        """What it does when it has this value."""
        return self.meaning_off if value is False else self.meaning

    def accepts(self, release: Release) -> str:
        """What it accepts in a release, for people."""
        bounds = self.bounds_in(release)
        return bounds.accepts if bounds else self.kind.value

    def bounds_in(self, release: Release) -> Bounds | None:
        """The bounds that hold in a release."""
        return next((bounds for bounds in reversed(self.bounds) if bounds.since <= release), None)


_BOOL_ERROR = "Expected a single True/False argument for {name}"
_SPLIT_ERROR = "CachingAllocator option {name} too small, must be {sign} {{least}}"
_GC_ERROR = "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"
_FRACTION_ERROR = "per_process_memory_fraction is invalid, set it in [0.0, 1.0]"


def _split_bounds(name: str) -> tuple[Bounds, ...]:
    strict, equal = _SPLIT_ERROR.format(name=name, sign=">"), _SPLIT_ERROR.format(name=name, sign=">=")
    return (
        Bounds("more than 20, in MiB", strict, least=20, above_least=True),
        Bounds("20 or more, in MiB", equal, Release(2, 10), least=20),
        Bounds("large_segment_size_mb (20) or more, in MiB", equal, Release(2, 11), least_is_large_segment=True),
    )


OPTIONS: tuple[Option, ...] = (
    Option(
        "expandable_segments",
        "expandable_segments",
        Kind.BOOL,
        "False",
        Release(2, 1),
        Half.ACCELERATOR,
        "Memory is mapped page by page (2 MiB or 20 MiB) into one long address range per pool and stream, so free space"
        " next to free space can always be joined.",
        value_error=_BOOL_ERROR,
        meaning_off="Memory comes from the driver in segments of a fixed size; free space of two segments cannot be"
        " joined.",
    ),
    Option(
        "max_split_size_mb",
        "max_split_size",
        Kind.MIB,
        "unlimited",
        Release(2, 0),
        Half.ACCELERATOR,
        "Blocks of this size or more are never cut, are given only to requests of this size or more, and are given back"
        " to the driver one by one when memory runs out.",
        bounds=_split_bounds("max_split_size_mb"),
        reset_since=Release(2, 0),
    ),
    Option(
        "max_non_split_rounding_mb",
        "max_non_split_rounding",
        Kind.MIB,
        "20 (large_segment_size_mb from 2.11)",
        Release(2, 6),
        Half.ACCELERATOR,
        "A request of max_split_size_mb or more takes a cached block whole only if that block is larger by less than"
        " this.",
        bounds=_split_bounds("max_non_split_rounding_mb"),
        reset_since=Release(2, 11),
    ),
    Option(
        "garbage_collection_threshold",
        "garbage_collection_threshold",
        Kind.FRACTION,
        "off",
        Release(2, 0),
        Half.ACCELERATOR,
        "Above this fraction of the process's memory limit, cached segments that were not used for long are given back"
        " before a new one is asked for; without a memory limit it does nothing.",
        bounds=(
            Bounds(
                "more than 0 and less than 1",
                "garbage_collect_threshold too small, set it 0.0~1.0",
                above_least=True,
                most=1,
                below_most=True,
                error_most="garbage_collect_threshold too big, set it 0.0~1.0",
            ),
            Bounds("more than 0 and less than 1", _GC_ERROR, Release(2, 10), above_least=True, most=1, below_most=True),
        ),
        reset_since=Release(2, 0),
    ),
    Option(
        "roundup_power2_divisions",
        "roundup_power2_divisions",
        Kind.DIVISIONS,
        "off",
        Release(2, 0),
        Half.ACCELERATOR,
        "Requests are rounded up to one of so many equal steps between two powers of two, so that more of them have the"
        " same size and fit into each other's holes.",
        reset_since=Release(2, 0),
    ),
    Option(
        "large_segment_size_mb",
        "large_segment_size",
        Kind.MIB,
        "20",
        Release(2, 11),
        Half.ACCELERATOR,
        "Size of the segments that serve requests over 1 MiB and under 10 MiB, and of the pages that expandable"
        " segments map for requests over 1 MiB.",
        bounds=(
            Bounds(
                "more than 10, in MiB",
                "CachingAllocator option large_segment_size_mb must be > 10 MB",
                Release(2, 11),
                least=10,
                above_least=True,
            ),
        ),
    ),
    Option(
        "per_process_memory_fraction",
        "per_process_memory_fraction",
        Kind.FRACTION,
        "1.0",
        Release(2, 10),
        Half.CUDA,
        "PyTorch reserves at most this fraction of the card; 1.0 is no limit; read once, when the card is first used.",
        bounds=(Bounds("0 to 1", _FRACTION_ERROR, Release(2, 10), least=0, most=1),),
    ),
    Option(
        "throw_on_cudamalloc_oom",
        "throw_on_cudamalloc_oom",
        Kind.BOOL,
        "False",
        Release(2, 12),
        Half.CUDA,
        "A request that would exceed per_process_memory_fraction fails at once: nothing cached is given back first,"
        " and no out-of-memory event is recorded.",
        meaning_off="When memory runs out, cached memory is given back and the request is tried again before it fails.",
    ),
    Option(
        "release_lock_on_cudamalloc",
        "release_lock_on_cudamalloc",
        Kind.BOOL,
        "False",
        Release(2, 2),
        Half.CUDA,
        "Other threads may allocate while one waits for the driver; sizes and places stay the same.",
        aliases=("release_lock_on_hipmalloc",),
        value_error=_BOOL_ERROR,
        meaning_off="Other threads wait with their requests while one waits for the driver.",
    ),
    Option(
        "graph_capture_record_stream_reuse",
        "graph_capture_record_stream_reuse",
        Kind.BOOL,
        "False",
        Release(2, 9),
        Half.CUDA,
        "During a graph capture, memory freed after use on other streams is reused once the graph itself proves that"
        " those uses are over.",
        meaning_off="During a graph capture, memory used on other streams is not reused before the capture ends.",
    ),
    Option(
        "backend",
        "backend",
        Kind.BACKEND,
        "native",
        Release(2, 0),
        Half.CUDA,
        "Which allocator runs: PyTorch's own, or the driver's cudaMallocAsync, which ignores the options for the native"
        " one and records no history.",
        value_error="Error parsing backend value",
    ),
    Option(
        "pinned_use_cuda_host_register",
        "pinned_use_cuda_host_register",
        Kind.BOOL,
        "False",
        Release(2, 2),
        Half.CUDA,
        "Pinned host memory is allocated ordinarily and registered with the driver afterwards, which is faster for"
        " large blocks.",
        aliases=("pinned_use_hip_host_register",),
        host_only=True,
        meaning_off="Pinned host memory is taken from the driver, which allocates and pins it in one call.",
    ),
    Option(
        "pinned_num_register_threads",
        "pinned_num_register_threads",
        Kind.COUNT,
        "1",
        Release(2, 2),
        Half.CUDA,
        "Number of threads that touch the pages of a pinned block before it is registered.",
        bounds=(
            Bounds(
                "a power of two up to 128",
                "Number of register threads has to be power of 2 ",
                power_of_two=True,
                error_power="Number of register threads has to be power of 2 ",
                most=128,
                error_most="Number of register threads should be less than or equal to 128",
            ),
            Bounds(
                "a power of two up to 128",
                "Number of register threads has to be power of 2, got {got}",
                Release(2, 10),
                power_of_two=True,
                error_power="Number of register threads has to be power of 2, got {got}",
                most=128,
                error_most="Number of register threads should be less than or equal to 128, got {got}",
            ),
        ),
        host_only=True,
    ),
    Option(
        "pinned_use_background_threads",
        "pinned_use_background_threads",
        Kind.BOOL,
        "False",
        Release(2, 6),
        Half.ACCELERATOR,
        "A thread of its own watches for pinned blocks that are free again.",
        host_only=True,
        meaning_off="The program's own threads look for pinned blocks that are free again, when they ask for one.",
    ),
    Option(
        "pinned_reserve_segment_size_mb",
        "pinned_reserve_segment_size",
        Kind.MIB,
        "0",
        Release(2, 10),
        Half.CUDA,
        "So much host memory is pinned ahead, and small pinned blocks are cut from it without asking the driver.",
        bounds=(
            Bounds(
                "1 or more, in MiB", "Pinned reserve segment size has to be greater than 0", Release(2, 10), least=1
            ),
        ),
        host_only=True,
        clamped=False,
    ),
    Option(
        "pinned_free_catch_all",
        "pinned_free_catch_all",
        Kind.BOOL,
        "False",
        Release(2, 12),
        Half.CUDA,
        "An error while pinned memory is freed, as after a failed kernel, is swallowed, so that the program can still"
        " end in order.",
        host_only=True,
        meaning_off="An error while pinned memory is freed is raised.",
    ),
    Option(
        "pinned_max_round_threshold_mb",
        "pinned_max_round_threshold",
        Kind.MIB,
        "unlimited",
        Release(2, 13),
        Half.ACCELERATOR,
        "Pinned blocks larger than this are not rounded up to a power of two.",
        host_only=True,
    ),
    Option(
        "pinned_max_cached_size_mb",
        "pinned_max_cached_size",
        Kind.MIB,
        "unlimited",
        Release(2, 13),
        Half.ACCELERATOR,
        "Pinned blocks larger than this are given back at once instead of being kept for reuse.",
        host_only=True,
    ),
)

_BY_NAME = {name: option for option in OPTIONS for name in (option.name, *option.aliases)}
NAMES: tuple[str, ...] = tuple(_BY_NAME)
"""Every key that some known release reads, aliases included."""


def find(key: str) -> Option | None:
    """The option that a key names in some release."""
    return _BY_NAME.get(key)
