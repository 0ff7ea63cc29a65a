"""FRAG201 to FRAG204, with exact numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.explain import Explanation, explain
from gapless.explain.finding import Finding
from tests.unit.explain.diary import GIB, KIB, MIB, Diary, at


def finding_of(explanation: Explanation, code: str) -> Finding:
    (found,) = (finding for finding in explanation.findings if finding.code == code)
    return found


def pinned(asked: int) -> Diary:
    """Eight segments of 100 MiB, each with a block of 20 MiB in use and 80 MiB free; 224 MiB left on the card."""
    diary = Diary(capacity_bytes=1 * GIB)
    for number in range(8):
        diary.malloc(f"segment{number}", 100 * MIB, at("train.py", 1))
    for number in range(8):
        diary.free(f"segment{number}")
    for number in range(8):
        diary.malloc(f"pin{number}", 20 * MIB, at("train.py", 7))
        diary.malloc(f"rest{number}", 80 * MIB, at("train.py", 8))
    for number in range(8):
        diary.free(f"rest{number}")
    diary.malloc("batch", asked, at("train.py", 9))
    return diary


def test_pins_are_named_with_place_and_age(tmp_path: Path) -> None:
    diary = pinned(300 * MIB)
    explanation = explain(diary.open(tmp_path))

    finding = finding_of(explanation, "FRAG201")
    assert explanation.verdict.code == "FRAG201"
    assert finding.bytes == 640 * MIB
    assert finding.measurements == {
        "rounded_bytes": 300 * MIB,
        "free_in_sum_bytes": 864 * MIB,
        "cached_bytes": 640 * MIB,
        "room_bytes": 224 * MIB,
        "largest_free_block_bytes": 80 * MIB,
        "free_blocks": 8,
        "in_use_share": 0.1562,
        "pinned_segments": 8,
        "pinned_free_bytes": 640 * MIB,
        "pinning_blocks": 8,
    }
    assert explanation.verdict.message == (
        "The request for 300.00 MiB at train.py:9 failed although 640.00 MiB were free in the cache: the largest hole"
        " is 80.00 MiB."
    )
    assert explanation.verdict.why == (
        "8 segments with 640.00 MiB free cannot be returned: 8 blocks of 20.00 MiB lie in them, allocated at"
        " train.py:7."
    )
    assert len(explanation.pins) == 8
    first = explanation.pins[0]
    assert (first.size_bytes, first.free_bytes, len(first.blocks)) == (100 * MIB, 80 * MIB, 1)
    assert first.blocks[0].bytes == 20 * MIB
    assert first.blocks[0].at == ("train.py", 7, "<module>")
    born = next(n for n, event in enumerate(diary.events) if event["action"] == "alloc" and event["size"] == 20 * MIB)
    assert first.blocks[0].age_events == len(diary.events) - 1 - born


def test_pieces_that_do_not_suffice_are_no_fragmentation(tmp_path: Path) -> None:
    assert explain(pinned(870 * MIB).open(tmp_path)).verdict.code == "OOM101"


def test_a_hole_that_fits_is_used(tmp_path: Path) -> None:
    diary = pinned(80 * MIB)

    assert diary.events[-1]["action"] == "alloc"
    assert explain(diary.open(tmp_path)).verdict.code == "OK000"


def cached_elsewhere(asked: int, *, stream: int = 0, pool: int = 0) -> Diary:
    """A hole of 400 MiB in a segment of another stream or pool, kept from being returned by 10 MiB in use."""
    diary = Diary(capacity_bytes=1 * GIB)
    if pool:
        diary.allocator.pool_create(pool)
        diary.allocator.pool_begin(pool)
    diary.malloc("whole", 410 * MIB, at("loader.py", 7), stream=stream)
    diary.free("whole")
    diary.malloc("pin", 10 * MIB, stream=stream)
    if pool:
        diary.allocator.pool_end(pool)
    diary.malloc("own", 500 * MIB)
    diary.malloc("asked", asked)
    return diary


def test_hole_of_another_stream(tmp_path: Path) -> None:
    explanation = explain(cached_elsewhere(300 * MIB, stream=5).open(tmp_path))

    finding = finding_of(explanation, "FRAG202")
    assert explanation.verdict.code == "FRAG202"
    assert explanation.verdict.why.endswith(" The largest hole elsewhere was last used at loader.py:7.")
    assert finding.places == ((("loader.py", 7, "<module>"),),)
    assert finding.measurements == {
        "rounded_bytes": 300 * MIB,
        "other_streams_free_bytes": 400 * MIB,
        "other_streams_largest_bytes": 400 * MIB,
        "own_free_bytes": 0,
        "largest_free_block_bytes": 0,
        "free_in_sum_bytes": 514 * MIB,
    }


def test_hole_of_a_private_pool(tmp_path: Path) -> None:
    explanation = explain(cached_elsewhere(300 * MIB, pool=3).open(tmp_path))

    finding = finding_of(explanation, "FRAG203")
    assert explanation.verdict.code == "FRAG203"
    assert explanation.facts.private_pool_free_bytes == 400 * MIB
    assert finding.measurements == {
        "rounded_bytes": 300 * MIB,
        "other_pools_free_bytes": 400 * MIB,
        "other_pools_largest_bytes": 400 * MIB,
        "own_free_bytes": 0,
        "largest_free_block_bytes": 0,
        "free_in_sum_bytes": 514 * MIB,
    }


def hole_for_a_private_pool(*, hole_is_private: bool) -> Diary:
    """A request in pool 3, and a hole of 400 MiB in the default pool or in pool 2."""
    diary = Diary(capacity_bytes=1 * GIB)
    for pool in (2, 3):
        diary.allocator.pool_create(pool)
    if hole_is_private:
        diary.allocator.pool_begin(2)
    diary.malloc("whole", 410 * MIB, at("loader.py", 7))
    diary.free("whole")
    diary.malloc("pin", 10 * MIB)
    if hole_is_private:
        diary.allocator.pool_end(2)
    diary.malloc("own", 500 * MIB)
    diary.allocator.pool_begin(3)
    diary.malloc("asked", 300 * MIB)
    diary.allocator.pool_end(3)
    return diary


@pytest.mark.parametrize(
    ("hole_is_private", "begin"), [(False, "Capture, or fill the MemPool, before"), (True, "Let both use one pool")]
)
def test_advice_for_a_request_inside_a_pool_fits_that_direction(
    tmp_path: Path, hole_is_private: bool, begin: str
) -> None:
    finding = finding_of(explain(hole_for_a_private_pool(hole_is_private=hole_is_private).open(tmp_path)), "FRAG203")

    assert finding.what_to_do.startswith(begin)
    assert "use_on_oom" not in finding.what_to_do


def test_one_segment_is_spoken_of_as_one(tmp_path: Path) -> None:
    assert " 1 block of 10.00 MiB lies in it" in finding_of(explain(one_pin().open(tmp_path)), "FRAG201").why


def one_pin() -> Diary:
    """A hole of 690 MiB in the only segment, and 300 MiB on the card; 750 MiB fail."""
    diary = Diary(capacity_bytes=1000 * MIB)
    diary.malloc("whole", 700 * MIB, at("loader.py", 7))
    diary.free("whole")
    diary.malloc("pin", 10 * MIB, at("train.py", 5))
    diary.malloc("asked", 750 * MIB)
    return diary


def test_hole_of_the_own_stream_is_used(tmp_path: Path) -> None:
    diary = cached_elsewhere(300 * MIB)

    assert diary.events[-1]["action"] == "alloc"


def test_another_streams_cache_that_is_not_needed_is_left_alone(tmp_path: Path) -> None:
    assert explain(cached_elsewhere(800 * MIB, stream=5).open(tmp_path)).verdict.code == "OOM101"


def rounded_up(divisions: int, asked: int) -> Diary:
    """Five tensors of 150 MiB, rounded up to parts of a power of two, on a card of 1,100 MiB."""
    diary = Diary(capacity_bytes=1100 * MIB, conf=f"roundup_power2_divisions:{divisions}")
    diary.configure(roundup_power2_divisions=[divisions] * 16)
    for number in range(5):
        diary.malloc(f"t{number}", 150 * MIB, at("train.py", 5))
    diary.malloc("asked", asked, at("train.py", 6))
    return diary


def test_rounding_decides_when_the_request_would_fit_without_it(tmp_path: Path) -> None:
    explanation = explain(rounded_up(2, 192 * MIB).open(tmp_path))  # 150 MiB become 192 MiB

    finding = finding_of(explanation, "FRAG204")
    assert explanation.verdict.code == "FRAG204"
    assert finding.bytes == 210 * MIB
    assert finding.measurements == {
        "lost_bytes": 210 * MIB,
        "active_bytes": 960 * MIB,
        "lost_share": 0.2188,
        "blocks": 5,
        "largest_loss_bytes": 42 * MIB,
        "private_pool_lost_bytes": 0,
    }


def test_rounding_is_a_warning_when_nothing_would_fit(tmp_path: Path) -> None:
    explanation = explain(rounded_up(2, 512 * MIB).open(tmp_path))

    assert explanation.verdict.code == "OOM101"
    assert finding_of(explanation, "FRAG204").severity == "warning"


def test_rounding_to_512_bytes_is_not_worth_a_word(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    for number in range(64):
        diary.malloc(f"t{number}", 2 * MIB + 1, at("train.py", 5))

    assert [finding.code for finding in explain(diary.open(tmp_path)).findings] == ["OK000"]


def test_holes_of_expandable_segments_are_no_pins(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB, conf="expandable_segments:True")
    diary.configure(expandable_segments=True)
    for number in range(40):
        diary.malloc(f"hole{number}", 19 * MIB)
        diary.malloc(f"pin{number}", 1536 * KIB)
    for number in range(40):
        diary.free(f"hole{number}")
    diary.malloc("asked", 400 * MIB)

    explanation = explain(diary.open(tmp_path))

    assert explanation.verdict.code == "FRAG201"
    assert explanation.pins == ()
    assert "none of which can be returned in whole pages" in explanation.verdict.why
    assert explanation.verdict.what_to_do.startswith("Expandable segments are on already.")
