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

def release_rules(major: int, minor: int) -> tuple:
    """What decides in a release; releases with equal rules decide alike."""

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
    def empty_cache(self) -> bool: ...
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

NEVER: int = 4294967295

NO_ALLOCATION: int = 4294967295

class Allocations:
    """
    Columns, one row an allocation: those alive at the start, then one an alloc event.
    """

    @property
    def alloc_event(self) -> numpy.typing.NDArray[numpy.int64]:
        """-1: alive at the start."""

    @property
    def free_requested_event(self) -> numpy.typing.NDArray[numpy.uint32]:
        """NEVER when it was not freed."""

    @property
    def free_completed_event(self) -> numpy.typing.NDArray[numpy.uint32]:
        """NEVER when it did not complete."""

    @property
    def address(self) -> numpy.typing.NDArray[numpy.uint64]:
        """As recorded."""

    @property
    def requested(self) -> numpy.typing.NDArray[numpy.uint64]:
        """Bytes asked for."""

    @property
    def size(self) -> numpy.typing.NDArray[numpy.uint64]:
        """Bytes of its block."""

    @property
    def assumed(self) -> numpy.typing.NDArray[numpy.uint8]:
        """1 where the block's size is the least that it can be."""

    @property
    def stack(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Of its allocation; NO_STACK when not recorded."""

    @property
    def stream(self) -> numpy.typing.NDArray[numpy.uint16]:
        """Index into Snapshot.streams."""

    @property
    def pool(self) -> numpy.typing.NDArray[numpy.uint16]:
        """Index into Snapshot.pools."""

    def __len__(self) -> int: ...

class Trace:
    """One device's recording with an identity for every allocation."""

    @property
    def allocations(self) -> Allocations: ...
    @property
    def start(self) -> DeviceState:
        """Segments and blocks before the first event."""

    @property
    def is_complete(self) -> bool:
        """Nothing existed before the first event."""

    @property
    def contradictions(self) -> list[tuple[int, str]]:
        """(event, what is wrong) of the first hundred."""

    @property
    def contradiction_count(self) -> int: ...
    def __len__(self) -> int: ...
    @property
    def allocation_of_event(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Of alloc and free events; NO_ALLOCATION for others."""

    @property
    def pool_of_event(self) -> numpy.typing.NDArray[numpy.uint16]:
        """Index into Snapshot.pools, as far as known, else the default pool's."""

    @property
    def allocation_of_start_block(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Of the blocks of `start`; NO_ALLOCATION for free ones."""

def build_trace(snapshot: Snapshot, device_row: int, settings: AllocatorSettings, major: int, minor: int) -> Trace:
    """
    Finds the state at the start of a device's recording and numbers its allocations.
    """

def state_before(trace: Trace, event: int) -> DeviceState:
    """Segments and blocks before an event, as recorded."""

CALLS: tuple = ...

class Program:
    """The calls of a recorded process, one row a call."""

    @property
    def call(self) -> numpy.typing.NDArray[numpy.uint8]:
        """Index into CALLS."""

    @property
    def allocation(self) -> numpy.typing.NDArray[numpy.uint32]:
        """
        NO_ALLOCATION for a request that failed and for what is no malloc or free.
        """

    @property
    def event_begin(self) -> numpy.typing.NDArray[numpy.uint32]:
        """First event of the call."""

    @property
    def event_end(self) -> numpy.typing.NDArray[numpy.uint32]:
        """One past its last event."""

    @property
    def no_split_pools(self) -> list[int]:
        """Index into Snapshot.pools: they hand out whole blocks."""

    @property
    def skipped_events(self) -> int: ...
    def __len__(self) -> int: ...

def build_program(
    trace: Trace,
    releases_are_retries: bool = False,
    known_capacity: int = 0,
    asked_releases: Sequence[int] = [],
    looks_for_no_split_pools: bool = False,
) -> Program:
    """Groups the events into calls."""

class Difference:
    """Where the replay first differs from the recording."""

    @property
    def event(self) -> int: ...
    @property
    def recorded(self) -> str: ...
    @property
    def replayed(self) -> str: ...

class SelfCheck:
    """How exactly the model replays a recording under its own settings."""

    @property
    def events_checked(self) -> int: ...
    @property
    def events_matching(self) -> int: ...
    @property
    def corrections(self) -> int: ...
    @property
    def tie_orders_learnt(self) -> int: ...
    @property
    def retries(self) -> int: ...
    @property
    def first_difference(self) -> Difference | None: ...
    @property
    def exact(self) -> bool: ...
    @property
    def block_bytes(self) -> numpy.typing.NDArray[numpy.uint64]:
        """Of each allocation the replay served; 0 for others."""

    @property
    def asked_releases(self) -> list[int]:
        """Releases found to be empty_cache(), by first event."""

    @property
    def retry_events(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Last event of each request that needed the cache given back."""

def self_check(
    trace: Trace,
    program: Program,
    major: int,
    minor: int,
    settings: AllocatorSettings,
    limit_bytes: int | None = None,
    total_bytes: int = 85899345920,
) -> SelfCheck: ...
def learn_block_sizes(trace: Trace, check: SelfCheck) -> None:
    """Takes over the sizes of blocks that an exact self-check found."""

class WhatIfOptions:
    """Under what a program is run; sizes in bytes."""

    def __init__(self, major: int, minor: int, settings: AllocatorSettings, capacity_bytes: int) -> None: ...
    @property
    def settings(self) -> AllocatorSettings: ...
    @settings.setter
    def settings(self, arg: AllocatorSettings, /) -> None: ...
    @property
    def capacity_bytes(self) -> int:
        """What PyTorch may reserve on the card."""

    @capacity_bytes.setter
    def capacity_bytes(self, arg: int, /) -> None: ...
    @property
    def total_bytes(self) -> int:
        """What the card reports; 0: as capacity_bytes."""

    @total_bytes.setter
    def total_bytes(self, arg: int, /) -> None: ...
    @property
    def limit_bytes(self) -> int | None:
        """Of a memory fraction, or None."""

    @limit_bytes.setter
    def limit_bytes(self, arg: int | None, /) -> None: ...
    @property
    def descending_addresses(self) -> bool: ...
    @descending_addresses.setter
    def descending_addresses(self, arg: bool, /) -> None: ...
    @property
    def start_as_recorded(self) -> bool: ...
    @start_as_recorded.setter
    def start_as_recorded(self, arg: bool, /) -> None: ...
    @property
    def stops_at_failure(self) -> bool: ...
    @stops_at_failure.setter
    def stops_at_failure(self, arg: bool, /) -> None: ...
    @property
    def state_before_event(self) -> int:
        """Keep the state before it; NEVER: do not."""

    @state_before_event.setter
    def state_before_event(self, arg: int, /) -> None: ...
    @property
    def keeps_state_at_failure(self) -> bool: ...
    @keeps_state_at_failure.setter
    def keeps_state_at_failure(self, arg: bool, /) -> None: ...
    @property
    def keeps_timeline(self) -> bool: ...
    @keeps_timeline.setter
    def keeps_timeline(self, arg: bool, /) -> None: ...
    @property
    def failed_request_factor(self) -> float:
        """Of the size of requests that failed in the recording."""

    @failed_request_factor.setter
    def failed_request_factor(self, arg: float, /) -> None: ...
    @property
    def switch_before_event(self) -> int:
        """Use switched_settings from it on."""

    @switch_before_event.setter
    def switch_before_event(self, arg: int, /) -> None: ...
    @property
    def switched_settings(self) -> AllocatorSettings: ...
    @switched_settings.setter
    def switched_settings(self, arg: AllocatorSettings, /) -> None: ...

class Failure:
    """The state at a failing request; sizes in bytes."""

    @property
    def event(self) -> int: ...
    @property
    def requested_bytes(self) -> int: ...
    @property
    def rounded_bytes(self) -> int: ...
    @property
    def segment_bytes(self) -> int: ...
    @property
    def allocated_bytes(self) -> int: ...
    @property
    def active_bytes(self) -> int: ...
    @property
    def reserved_bytes(self) -> int: ...
    @property
    def largest_free_block_bytes(self) -> int:
        """That the request could have used."""

    @property
    def device_free_bytes(self) -> int: ...
    @property
    def was_recorded(self) -> bool: ...

class ReplayResult:
    """What a program takes under given settings."""

    @property
    def allocated_bytes_peak(self) -> int: ...
    @property
    def allocated_bytes_peak_event(self) -> int: ...
    @property
    def active_bytes_peak(self) -> int: ...
    @property
    def active_bytes_peak_event(self) -> int: ...
    @property
    def reserved_bytes_peak(self) -> int: ...
    @property
    def reserved_bytes_peak_event(self) -> int: ...
    @property
    def requested_bytes_peak(self) -> int: ...
    @property
    def requested_bytes_peak_event(self) -> int: ...
    @property
    def failures(self) -> list[Failure]: ...
    @property
    def served_failures(self) -> list[int]:
        """Events that failed in the recording and not here."""

    @property
    def retry_events(self) -> list[int]: ...
    @property
    def device_alloc_calls(self) -> int: ...
    @property
    def device_free_calls(self) -> int: ...
    @property
    def device_map_calls(self) -> int: ...
    @property
    def device_unmap_calls(self) -> int: ...
    @property
    def reached_event(self) -> int:
        """One past the last event replayed."""

    @property
    def allocations_not_placed(self) -> int: ...
    @property
    def undefined(self) -> bool:
        """PyTorch would have gone on with memory that is not its own."""

    @property
    def reserved_bytes_end(self) -> int: ...
    @property
    def hash(self) -> int:
        """Of every placement; equal runs have equal hashes."""

    @property
    def state(self) -> DeviceState | None: ...
    @property
    def allocation_of_block(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Of the blocks of `state`."""

    @property
    def timeline_event(self) -> numpy.typing.NDArray[numpy.uint32]:
        """Where bytes changed."""

    @property
    def timeline_allocated(self) -> numpy.typing.NDArray[numpy.uint64]:
        """Bytes after it."""

    @property
    def timeline_reserved(self) -> numpy.typing.NDArray[numpy.uint64]:
        """Bytes after it."""

def what_if(
    trace: Trace,
    program: Program,
    options: WhatIfOptions,
    requested: Sequence[int] = [],
    free_before_event: Sequence[int] = [],
) -> ReplayResult:
    """
    Runs the program; `requested` and `free_before_event` edit it by allocation.
    """

ACTIONS: tuple = ...

BLOCK_STATES: tuple = ("free", "allocated", "pending")

NO_STACK: int = 4294967295

FRAMES_MOST: int = 4096

NAME_BYTES_MOST: int = 4096

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

def read_snapshot_stream(stream: object, size: int | None) -> Snapshot:
    """
    The snapshot in what stream.readinto() yields: size bytes, None when unknown. Raises FormatError.
    """
