"""Laws of the allocator, under random calls on a small card."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from gapless import _core
from gapless.units import MIB

CAPACITY = 256 * MIB
SIZES = st.one_of(st.integers(1, 4096), st.integers(4096, 2 * MIB), st.integers(MIB, 80 * MIB))
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("malloc"), SIZES, st.integers(0, 2)),
        st.tuples(st.just("free"), st.integers(0, 999), st.just(0)),
        st.tuples(st.just("record_stream"), st.integers(0, 999), st.integers(0, 2)),
        st.tuples(st.just("pending"), st.booleans(), st.just(0)),
        st.tuples(st.just("empty_cache"), st.just(0), st.just(0)),
    ),
    max_size=120,
)
RELEASES = st.integers(1, 14)


def settings_of(max_split: int | None, expandable: bool) -> _core.AllocatorSettings:
    core = _core.AllocatorSettings()
    core.expandable_segments = expandable
    if max_split is not None:
        core.max_split_size = max_split * MIB
    return core


def play(allocator: _core.Allocator, calls: list[tuple[str, int, int]]) -> list[int]:
    live: list[int] = []
    for call, number, stream in calls:
        if call == "malloc":
            block = allocator.malloc(number, stream)
            if block >= 0:
                live.append(block)
        elif call == "free" and live:
            allocator.free(live.pop(number % len(live)))
        elif call == "record_stream" and live:
            allocator.record_stream(live[number % len(live)], stream)
        elif call == "pending":
            allocator.set_events_pending(bool(number))
        elif call == "empty_cache":
            allocator.empty_cache()
        assert allocator.is_valid()
    return live


def reserved(allocator: _core.Allocator) -> int:
    return int(allocator.stats()["reserved_bytes"][0][0])


@settings(max_examples=150, deadline=None)
@given(CALLS, RELEASES, st.booleans())
def test_blocks_tile_their_segments_and_never_exceed_the_card(
    calls: list[tuple[str, int, int]], minor: int, expandable: bool
) -> None:
    allocator = _core.Allocator(2, minor, CAPACITY)
    allocator.configure(settings_of(None, expandable))

    play(allocator, calls)

    blocks = allocator.snapshot()
    assert sum(block[1] for block in blocks) == reserved(allocator) <= CAPACITY
    used = sorted((block[0], block[1]) for block in blocks)
    assert all(a + size <= b for (a, size), (b, _) in pairwise(used))


@settings(max_examples=100, deadline=None)
@given(CALLS, RELEASES, st.sampled_from([None, 32, 64]), st.booleans())
def test_freeing_everything_and_emptying_the_cache_returns_all_memory(
    calls: list[tuple[str, int, int]], minor: int, max_split: int | None, expandable: bool
) -> None:
    allocator = _core.Allocator(2, minor, CAPACITY)
    allocator.configure(settings_of(max_split, expandable))

    for block in play(allocator, calls):
        allocator.free(block)
    allocator.set_events_pending(False)
    allocator.empty_cache()

    assert reserved(allocator) == 0
    assert allocator.snapshot() == []


@settings(max_examples=50, deadline=None)
@given(CALLS, RELEASES)
def test_equal_calls_give_equal_decisions(calls: list[tuple[str, int, int]], minor: int) -> None:
    first, second = (_core.Allocator(2, minor, CAPACITY) for _ in range(2))

    play(first, calls)
    play(second, calls)

    assert first.take_events() == second.take_events()
    assert first.stats() == second.stats()


@settings(max_examples=50, deadline=None)
@given(CALLS, st.booleans(), st.sampled_from([2**64 - 1, 2**64 - MIB, 2**64 - 96 * MIB, 2**63, 2**48]))
def test_the_largest_segments_that_text_can_ask_for_are_refused(
    calls: list[tuple[str, int, int]], expandable: bool, segment_bytes: int
) -> None:
    allocator = _core.Allocator(2, 14, CAPACITY)
    chosen = settings_of(None, expandable)
    chosen.large_segment_size = segment_bytes
    allocator.configure(chosen)

    play(allocator, calls)

    assert reserved(allocator) <= CAPACITY
