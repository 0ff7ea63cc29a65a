"""
The C++ core of Gapless: columns of recordings, the allocator model, replay.
"""

from collections.abc import Sequence

import numpy
import numpy.typing

class AllocatorSettings:
    """What the allocator's decisions depend on; sizes in bytes."""

    def __init__(self) -> None: ...
    @property
    def max_split_size(self) -> int: ...
    @max_split_size.setter
    def max_split_size(self, arg: int, /) -> None: ...
    @property
    def max_non_split_rounding(self) -> int: ...
    @max_non_split_rounding.setter
    def max_non_split_rounding(self, arg: int, /) -> None: ...
    @property
    def large_segment_size(self) -> int: ...
    @large_segment_size.setter
    def large_segment_size(self, arg: int, /) -> None: ...
    @property
    def roundup_power2_divisions(self) -> list[int]: ...
    @roundup_power2_divisions.setter
    def roundup_power2_divisions(self, arg: Sequence[int], /) -> None: ...
    @property
    def garbage_collection_threshold(self) -> float: ...
    @garbage_collection_threshold.setter
    def garbage_collection_threshold(self, arg: float, /) -> None: ...
    @property
    def per_process_memory_fraction(self) -> float: ...
    @per_process_memory_fraction.setter
    def per_process_memory_fraction(self, arg: float, /) -> None: ...
    @property
    def expandable_segments(self) -> bool: ...
    @expandable_segments.setter
    def expandable_segments(self, arg: bool, /) -> None: ...
    @property
    def throw_on_cudamalloc_oom(self) -> bool: ...
    @throw_on_cudamalloc_oom.setter
    def throw_on_cudamalloc_oom(self, arg: bool, /) -> None: ...

def block_size(requested: int, settings: AllocatorSettings, major: int, minor: int) -> int:
    """Bytes of the block that serves a request of that many bytes."""

class Allocator:
    """PyTorch's CUDA caching allocator on a simulated card."""

    def __init__(self, major: int, minor: int, capacity_bytes: int) -> None: ...
    def configure(self, arg: AllocatorSettings, /) -> None: ...
    def set_memory_fraction(self, arg: float, /) -> None: ...
    def set_capacity(self, arg: int, /) -> None: ...
    def malloc(self, bytes: int, stream: int = 0) -> int:
        """
        Block id, or -1 out of memory, -2 rejected, -3 where PyTorch stops with an internal assertion.
        """

    def free(self, arg: int, /) -> None: ...
    def record_stream(self, arg0: int, arg1: int, /) -> None: ...
    def set_events_pending(self, arg: bool, /) -> None: ...
    def set_capturing(self, arg: bool, /) -> None: ...
    def empty_cache(self) -> None: ...
    def pool_create(self, arg: int, /) -> bool: ...
    def pool_begin(self, arg: int, /) -> bool: ...
    def pool_end(self, arg: int, /) -> bool: ...
    def pool_release(self, arg: int, /) -> bool: ...
    def pool_empty_cache(self, arg: int, /) -> bool: ...
    def pool_use_on_oom(self, arg: int, /) -> None: ...
    def pool_no_split(self, arg: int, /) -> None: ...
    def take_events(self) -> list:
        """
        (action, address, size, stream, pool) of each decision since the last call.
        """

    def stats(self) -> dict: ...
    def snapshot(self) -> list: ...
    def is_valid(self) -> bool: ...
    @property
    def undefined(self) -> bool: ...
    @property
    def retries(self) -> int: ...
    @property
    def ooms(self) -> int: ...

ACTIONS: tuple = ...

BLOCK_STATES: tuple = ("free", "allocated", "pending")

NO_STACK: int = 4294967295

NO_TEXT: int = 4294967295

NO_TIME: int = -9223372036854775808

UNKNOWN_POOL: int = 65535

class Events:
    """Columns of equal length, one row an event, oldest first."""

    @property
    def action(self) -> numpy.typing.NDArray[numpy.uint8]:
        """Index into ACTIONS."""

    @property
    def address(self) -> numpy.typing.NDArray[numpy.uint64]:
        """oom: the device's free bytes; snapshot: 0."""

    @property
    def size(self) -> numpy.typing.NDArray[numpy.uint64]:
        """Bytes; see core/trace/event.h for which."""

    @property
    def time_us(self) -> numpy.typing.NDArray[numpy.int64]:
        """Since the epoch; NO_TIME when not recorded."""

    @property
    def stack(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Index into Stacks; NO_STACK when not recorded."""

    @property
    def stream(self) -> numpy.typing.NDArray[numpy.uint16]:
        """Index into Snapshot.streams."""

    @property
    def pool(self) -> numpy.typing.NDArray[numpy.uint16]:
        """Index into Snapshot.pools, or UNKNOWN_POOL."""

    @property
    def compile_context(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Index into Stacks.strings; NO_TEXT when not recorded."""

    @property
    def user_metadata(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Index into Stacks.strings; NO_TEXT when not recorded."""

    def __len__(self) -> int: ...

class Stacks:
    """Stacks of frames, each distinct one once, innermost frame first."""

    def __len__(self) -> int: ...
    def frames_of(self, stack: int) -> list[tuple[str, int, str]]:
        """The frames as (file, line, function), innermost first."""

    def string(self, id: int) -> str:
        """The text that a column names by its index."""

class DeviceState:
    """Segments in order of address, with their blocks."""

    @property
    def segments(self) -> numpy.typing.NDArray[numpy.void]:
        """Structured array; blocks first_block .. first_block + block_count."""

    @property
    def blocks(self) -> numpy.typing.NDArray[numpy.void]:
        """Structured array; state is an index into BLOCK_STATES."""

class DeviceRecording:
    """What is recorded of one device."""

    @property
    def device(self) -> int: ...
    @property
    def events(self) -> Events: ...
    @property
    def state(self) -> DeviceState:
        """At the dump."""

class Snapshot:
    """What one recording says, before anything is concluded from it."""

    @property
    def devices(self) -> list[DeviceRecording]:
        """Those with a segment or an event."""

    @property
    def stacks(self) -> Stacks: ...
    @property
    def pools(self) -> list[tuple[int, int]]:
        """Pool ids; index 0 is the default pool (0, 0)."""

    @property
    def keys(self) -> list[str]:
        """Keys seen, as event.time_us, sorted."""

    @property
    def settings_json(self) -> str:
        """allocator_settings; empty when absent."""

    @property
    def annotations_json(self) -> str:
        """external_annotations; empty when absent."""

    @property
    def trace_lists(self) -> int:
        """Lists in device_traces, empty ones included."""

    @property
    def is_segment_list(self) -> bool:
        """The bare list of memory_snapshot()."""

    @property
    def streams(self) -> numpy.typing.NDArray[numpy.uint64]:
        """Handles; index 0 is the default stream."""

def read_snapshot(buffer: bytes | bytearray | memoryview) -> Snapshot:
    """The snapshot in the bytes of a pickle. Raises FormatError."""
