"""The golden vectors of the allocator's specification, all observed on PyTorch's released binaries."""

from __future__ import annotations

import pytest

from gapless.units import MIB
from tests.unit.allocator.card import ALL_RELEASES, Card, Release


@pytest.fixture(params=ALL_RELEASES, ids=lambda release: f"{release[0]}.{release[1]}")
def release(request: pytest.FixtureRequest) -> Release:
    return request.param  # type: ignore[no-any-return]


def test_g1_sizes_at_which_a_decision_changes(release: Release) -> None:
    card = Card(release)

    assert card.malloc("1", 1) == [("segment_alloc", "S0+0", 2097152), ("alloc", "S0+0", 1)]
    assert card.malloc("2", 1048576) == [("alloc", "S0+512", 1048576)]
    assert card.malloc("3", 1048064) == [("alloc", "S0+1049088", 1048064)]
    assert card.malloc("4", 1048577) == [("segment_alloc", "S1+0", 20971520), ("alloc", "S1+0", 1048577)]
    assert card.malloc("5", 10485248) == [("alloc", "S1+1049088", 10485248)]
    for number, (size, segment) in enumerate(
        [
            (10485249, 10485760),
            (10485760, 10485760),
            (10485761, 12582912),
            (12582912, 12582912),
            (12582913, 14680064),
            (20971520, 20971520),
        ],
        start=2,
    ):
        assert card.malloc(f"large {number}", size) == [
            ("segment_alloc", f"S{number}+0", segment),
            ("alloc", f"S{number}+0", size),
        ]

    assert card.segment_blocks() == [
        ["512/1", "1048576/1048576", "1048064/1048064"],
        ["1049088/1048577", "10485248/10485248", "9437184 free"],
        ["10485760/10485249"],
        ["10485760/10485760"],
        ["10486272/10485761", "2096640 free"],
        ["12582912/12582912"],
        ["12583424/12582913", "2096640 free"],
        ["20971520/20971520"],
    ]


def test_g2_entries_blocks_and_statistics(release: Release) -> None:
    card = Card(release)
    assert card.malloc("a", 100) == [("segment_alloc", "S0+0", 2097152), ("alloc", "S0+0", 100)]
    assert card.malloc("b", 1048576) == [("alloc", "S0+512", 1048576)]
    assert card.malloc("c", 1048577) == [("segment_alloc", "S1+0", 20971520), ("alloc", "S1+0", 1048577)]
    assert card.malloc("d", 10485760) == [("alloc", "S1+1049088", 10485760)]
    assert card.free("c") == [("free_requested", "S1+0", 1048577), ("free_completed", "S1+0", 1048577)]

    assert card.segment_blocks() == [
        ["512/100", "1048576/1048576", "1048064 free"],
        ["1049088 free", "10485760/10485760", "9436672 free"],
    ]
    assert card.stat("active_bytes")[0] == 11534848
    card.free("a", "b", "d")
    assert card.segment_blocks() == [["2097152 free"], ["20971520 free"]]
    assert card.empty_cache() == [("segment_free", "S1+0", 20971520), ("segment_free", "S0+0", 2097152)]

    assert card.stat("allocation") == (0, 4, 4, 4)
    assert card.stat("segment") == (0, 2, 2, 2)
    assert card.stat("inactive_split")[1] == 4
    assert card.stat("inactive_split_bytes") == (0, 20970496, 23068672, 23068672)
    assert card.count("num_device_alloc") == 2
    assert card.count("num_device_free") == 2
    assert card.count("num_sync_all_streams") == 1


def test_g3_the_older_segment_wins_since_2_12_before_the_lower_address(release: Release) -> None:
    card = Card(release)
    card.malloc("a", 20971520)
    card.malloc("b", 20971520)
    card.free("a")
    card.empty_cache()
    assert card.malloc("c", 20971520)[0] == ("segment_alloc", "S0+0", 20971520)  # the address of a, lower than b's
    card.free("b", "c")

    assert card.malloc("x", 20971520) == [("alloc", "S1+0" if release >= (2, 12) else "S0+0", 20971520)]


def test_g4_in_2_12_a_block_that_was_cut_anew_is_younger(release: Release) -> None:
    card = Card(release)
    card.malloc("p", 6291456)
    card.malloc("q", 20971520)
    card.free("p")
    card.malloc("p", 6291456)
    card.free("p", "q")

    assert card.malloc("x", 20971520) == [("alloc", "S1+0" if release == (2, 12) else "S0+0", 20971520)]


def test_g5_garbage_collection_frees_the_oldest_first_and_passes_its_target(release: Release) -> None:
    card = Card(release, settings="garbage_collection_threshold:0.5")
    card.allocator.set_memory_fraction(0.00244140625)
    card.malloc("a", 41943040)
    card.malloc("b", 62914560)
    card.free("a")
    assert card.malloc("s", 52428800) == [("segment_alloc", "S2+0", 52428800), ("alloc", "S2+0", 52428800)]
    card.free("s")
    assert card.malloc("t", 52428800) == [("alloc", "S2+0", 52428800)]
    card.free("b")

    assert card.malloc("u", 73400320) == [
        ("segment_free", "S0+0", 41943040),
        ("segment_free", "S1+0", 62914560),
        ("segment_alloc", "S3+0", 73400320),
        ("alloc", "S3+0", 73400320),
    ]


def test_g6_a_retry_gives_everything_back_and_expandable_splits_ordinary_segments(release: Release) -> None:
    card = Card(release, capacity=60 * MIB)
    card.malloc("a", 30000000)
    assert card.segment_blocks() == [["30000128/30000000", "1457152 free"]]
    card.free("a")
    assert card.malloc("b", 50000000) == [
        ("segment_free", "S0+0", 31457280),
        ("segment_alloc", "S1+0", 50331648),
        ("alloc", "S1+0", 50000000),
    ]
    assert card.segment_blocks() == [["50331648/50000000"]]
    assert card.count("num_alloc_retries") == 1
    assert card.count("num_sync_all_streams") == 1

    card.configure("expandable_segments:True")
    card.free("b")
    assert card.malloc("c", 50000000) == [("alloc", "S1+0", 50000000)]
    assert card.segment_blocks() == [["50000384/50000000", "331264 free"]]
    assert card.malloc("d", 1000) == [("segment_map", "R0+0", 2097152), ("alloc", "R0+0", 1000)]


def test_g7_an_expandable_segment_grows_by_pages_and_gives_whole_pages_back(release: Release) -> None:
    card = Card(release, capacity=83886080, settings="expandable_segments:True")
    assert card.malloc("a", 30000000) == [("segment_map", "R0+0", 41943040), ("alloc", "R0+0", 30000000)]
    assert card.malloc("b", 10485760) == [("alloc", "R0+30000128", 10485760)]
    assert card.malloc("c", 20971520) == [("segment_map", "R0+41943040", 20971520), ("alloc", "R0+40485888", 20971520)]
    card.free("b")
    assert card.empty_cache() == []  # no whole page lies inside b

    assert card.malloc("z", 60000000)[-1] == ("oom", 60000256)


def test_g8_max_split_size_keeps_large_blocks_for_large_requests(release: Release) -> None:
    card = Card(release, settings="max_split_size_mb:40")
    card.malloc("a", 62914560)
    card.malloc("b", 20000000)
    card.free("a")
    assert card.malloc("c", 52428800) == [("alloc", "S0+0", 52428800)]
    card.free("c")
    # 62,914,560 is exactly 41,943,040 + 20 MiB: already too large.
    assert card.malloc("d", 41943040) == [("segment_alloc", "S2+0", 41943040), ("alloc", "S2+0", 41943040)]
    # What b left of its 20 MiB is under 1 MiB and was never cut off.
    assert card.malloc("e", 1048577) == [("segment_alloc", "S3+0", 20971520), ("alloc", "S3+0", 1048577)]

    assert card.stat("oversize_allocations")[0] == 1
    assert card.stat("oversize_segments")[0] == 2


@pytest.mark.parametrize("minor", range(10, 15))
def test_g9_a_no_split_pool_hands_out_whole_blocks(minor: int) -> None:
    card = Card((2, minor))
    card.allocator.pool_create(5)
    card.allocator.pool_no_split(5)
    card.allocator.pool_begin(5)

    assert card.malloc("a", 3000000) == [("segment_alloc", "S0+0", 20971520), ("alloc", "S0+0", 3000000)]
    assert card.malloc("b", 3000000) == [("segment_alloc", "S1+0", 20971520), ("alloc", "S1+0", 3000000)]
    assert card.malloc("c", 1000) == [("segment_alloc", "S2+0", 2097152), ("alloc", "S2+0", 1000)]
    assert card.segment_blocks() == [["20971520/3000000"], ["20971520/3000000"], ["2097152/1000"]]
    card.free("a")
    assert card.malloc("d", 1200000) == [("alloc", "S0+0", 1200000)]
    assert card.stat("inactive_split") == (0, 0, 0, 0)


@pytest.mark.parametrize("minor", range(3, 15))
def test_g10_the_innermost_scope_wins_since_2_10_before_the_outermost(minor: int) -> None:
    card = Card((2, minor))
    card.allocator.pool_begin(5)
    card.malloc("p1", 3000000)
    card.allocator.pool_begin(6)

    if minor >= 10:
        assert card.malloc("q1", 3000000) == [("segment_alloc", "S1+0", 20971520), ("alloc", "S1+0", 3000000)]
    else:
        assert card.malloc("q1", 3000000) == [("alloc", "S0+3000320", 3000000)]


def test_g11_a_block_used_by_another_stream_waits_for_it(release: Release) -> None:
    card = Card(release)
    card.malloc("a", 1000)
    card.allocator.record_stream(card.blocks["a"], 16)
    assert card.free("a") == [("free_requested", "S0+0", 1000)]

    assert card.malloc("b", 1000) == [("free_completed", "S0+0", 1000), ("alloc", "S0+0", 1000)]


def test_g12_a_fraction_of_zero_refuses_without_asking_the_device(release: Release) -> None:
    card = Card(release)
    card.allocator.set_memory_fraction(0.0)

    assert card.malloc("a", 1) == [("oom", 512)]

    assert card.blocks["a"] == -1
    assert card.count("num_alloc_retries") == 1
    assert card.count("num_ooms") == 1
    assert card.count("num_device_alloc") == 0


def test_switching_settings_can_free_a_segment_with_a_live_block(release: Release) -> None:
    """A defect of PyTorch in all releases: the retry for d gives back b, the first part of a's old segment, alone."""
    card = Card(release, capacity=100 * MIB, settings="max_split_size_mb:40")
    card.malloc("a", 62914560)
    card.free("a")
    card.configure("expandable_segments:True,max_split_size_mb:40")
    assert card.malloc("b", 42991616) == [("alloc", "S0+0", 42991616)]
    assert card.malloc("c", 10485760) == [("alloc", "S0+42991616", 10485760)]
    card.free("b")
    assert not card.allocator.undefined

    card.malloc("d", 52428800)

    assert card.allocator.undefined
