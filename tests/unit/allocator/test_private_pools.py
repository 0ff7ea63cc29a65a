"""Private pools and allocation scopes, release by release, as observed on PyTorch's released binaries."""

from __future__ import annotations

import pytest

from gapless.units import MIB
from tests.unit.allocator.card import ALL_RELEASES, Card, Release

LARGE, SMALL = 3_000_000, 1000
LARGE_SEGMENT = 20 * MIB


@pytest.fixture(params=ALL_RELEASES, ids=lambda release: f"{release[0]}.{release[1]}")
def release(request: pytest.FixtureRequest) -> Release:
    return request.param  # type: ignore[no-any-return]


def in_pool(card: Card, pool: int, *requests: tuple[str, int]) -> None:
    """Allocate inside a scope of its own."""
    assert card.allocator.pool_begin(pool)
    for name, size in requests:
        card.malloc(name, size)
    assert card.allocator.pool_end(pool)


def test_a_pool_keeps_its_memory_until_nobody_uses_it(release: Release) -> None:
    card = Card(release)
    in_pool(card, 5, ("a", LARGE), ("b", SMALL))
    card.free("a", "b")
    assert card.empty_cache() == []

    assert card.allocator.pool_release(5)

    assert card.decisions() == []
    assert card.empty_cache() == [("segment_free", "S1+0", 2097152), ("segment_free", "S0+0", LARGE_SEGMENT)]


def test_a_released_pool_opens_again_only_after_its_last_segment_is_gone(release: Release) -> None:
    card = Card(release)
    in_pool(card, 5, ("a", LARGE))
    card.allocator.pool_release(5)
    card.empty_cache()
    assert not card.allocator.pool_begin(5)

    card.free("a")
    card.empty_cache()

    assert card.allocator.pool_begin(5)


@pytest.mark.parametrize(
    ("pools", "order"),
    [
        ([1, 2, 3, 4, 5], [5, 2, 4, 1, 3]),
        ([5, 4, 3, 2, 1], [5, 2, 4, 1, 3]),
        ([1, 9, 17, 25], [25, 1, 9, 17]),
        ([25, 17, 9, 1], [25, 17, 9, 1]),
        ([100, 7, 55, 23, 1000], [1000, 23, 7, 100, 55]),
        (range(1, 20), [13, 5, 18, 10, 2, 15, 7, 12, 4, 17, 9, 1, 14, 6, 19, 11, 3, 16, 8]),
    ],
)
def test_pools_give_back_in_the_order_of_a_hash_table(release: Release, pools: list[int], order: list[int]) -> None:
    card = Card(release)
    for pool in pools:
        in_pool(card, pool, (str(pool), LARGE))
    card.free(*map(str, pools))
    for pool in pools:
        card.allocator.pool_release(pool)

    card.allocator.empty_cache()

    assert [pool for *_, pool in card.allocator.take_events()] == order


def test_emptying_the_cache_in_a_scope(release: Release) -> None:
    card = Card(release)
    card.malloc("default", LARGE)
    card.free("default")
    in_pool(card, 1, ("a", LARGE))
    card.free("a")
    card.allocator.pool_release(1)
    card.allocator.pool_begin(2)

    succeeded = card.allocator.empty_cache()

    assert succeeded == (release >= (2, 8))
    released = [name for action, name, _ in card.decisions() if action == "segment_free"]
    if release >= (2, 13):  # a scope without a capture changes nothing
        assert released == ["S0+0", "S1+0"]
    elif release >= (2, 8):  # only private pools
        assert released == ["S1+0"]
    else:  # PyTorch stops with an internal assertion
        assert released == []


def test_a_free_in_a_scope_waits_for_its_end_where_another_stream_used_the_block(release: Release) -> None:
    card = Card(release)
    card.malloc("before", SMALL)
    card.allocator.record_stream(card.blocks["before"], 3)
    card.free("before")
    card.allocator.pool_begin(5)
    card.malloc("inside", SMALL)
    card.allocator.record_stream(card.blocks["inside"], 3)
    card.free("inside")

    in_scope = card.malloc("c", SMALL)
    card.allocator.pool_end(5)
    after = [name for action, name, _ in card.malloc("d", SMALL) if action == "free_completed"]

    if release >= (2, 13):
        assert in_scope == [("free_completed", "S1+0", SMALL), ("alloc", "S1+0", SMALL)]
        assert after == []
    else:
        assert in_scope == [("alloc", "S1+1024", SMALL)]
        # Since 2.4 a stream that used the block during the scope only need not be waited for.
        assert after == (["S1+0", "S0+0"] if release >= (2, 4) else ["S0+0", "S1+0"])


def test_a_capture_puts_frees_off_since_2_13_too() -> None:
    card = Card((2, 14))
    card.allocator.pool_begin(5)
    card.allocator.set_capturing(True)
    card.malloc("a", SMALL)
    card.allocator.record_stream(card.blocks["a"], 3)
    card.free("a")
    assert card.malloc("b", SMALL) == [("alloc", "S0+1024", SMALL)]

    card.allocator.set_capturing(False)

    assert card.malloc("c", SMALL) == [("free_completed", "S0+0", SMALL), ("alloc", "S0+0", SMALL)]


@pytest.mark.parametrize("minor", range(8, 15))
def test_overflow_pools_lend_to_failing_requests(minor: int) -> None:
    card = Card((2, minor), capacity=64 * MIB)
    card.allocator.pool_create(1)
    card.allocator.pool_use_on_oom(1)
    in_pool(card, 1, ("lent", 30 * MIB))
    card.malloc("cached", 20 * MIB)
    card.free("lent", "cached")

    decided = card.malloc("a", 28 * MIB)

    # Up to 2.10 as a last resort; then before anything is given back, which would have served as well.
    if minor >= 11:
        assert decided == [("alloc", "S0+0", 28 * MIB)]
    else:
        assert decided == [
            ("segment_free", "S1+0", 20 * MIB),
            ("segment_alloc", "S2+0", 28 * MIB),
            ("alloc", "S2+0", 28 * MIB),
        ]
    assert card.count("num_alloc_retries") == (0 if minor >= 11 else 1)


@pytest.mark.parametrize("minor", range(10, 15))
def test_the_last_release_ends_no_split_since_2_14(minor: int) -> None:
    card = Card((2, minor))
    card.allocator.pool_no_split(5)
    in_pool(card, 5)
    card.allocator.pool_release(5)
    card.empty_cache()

    in_pool(card, 5, ("a", LARGE))

    whole = f"{LARGE_SEGMENT}/{LARGE}"
    assert card.segment_blocks() == [[whole] if minor < 14 else [f"3000320/{LARGE}", "17971200 free"]]


def test_pool_empty_cache_completes_the_frees_of_that_pool_only() -> None:
    card = Card((2, 14))
    for pool in (1, 2):
        in_pool(card, pool, (str(pool), LARGE))
        card.allocator.pool_release(pool)
    card.malloc("default", LARGE)
    for name in ("1", "2", "default"):
        card.allocator.record_stream(card.blocks[name], 3)
    card.allocator.set_events_pending(True)
    card.free("1", "2", "default")

    assert card.allocator.pool_empty_cache(1)

    assert card.decisions() == [("free_completed", "S0+0", LARGE), ("segment_free", "S0+0", LARGE_SEGMENT)]


@pytest.mark.parametrize("minor", range(5, 15))
def test_more_unmaps_than_growths_in_a_pool_stop_pytorch(minor: int) -> None:
    """A defect since 2.5: one growth counts one, each unmapped run counts down; below zero an assertion fails."""
    card = Card((2, minor), settings="expandable_segments:True")
    in_pool(card, 5, ("a", 100_000_000))
    card.free("a")
    in_pool(card, 5, ("b", 25_000_000), ("c", 1_100_000), ("d", 35_000_000), ("e", 1_100_000))
    card.free("b", "d")
    card.allocator.pool_release(5)
    card.allocator.pool_release(5)

    decided = card.empty_cache()

    assert decided[0] == ("segment_unmap", "R0+0", LARGE_SEGMENT)
    assert card.allocator.undefined


@pytest.mark.parametrize("minor", range(5, 15))
def test_a_pool_is_deleted_under_its_blocks_when_the_count_says_zero(minor: int) -> None:
    """The same defect in its other form: what is left of the pool hangs in the air."""
    card = Card((2, minor), settings="expandable_segments:True")
    in_pool(card, 5, ("a", 100_000_000))
    card.free("a")
    in_pool(card, 5, ("b", 60_000_000), ("c", 25_000_000))
    card.free("b")
    card.allocator.pool_release(5)
    card.allocator.pool_release(5)

    assert card.empty_cache() == [("segment_unmap", "R0+0", 41943040)]

    assert card.allocator.undefined
