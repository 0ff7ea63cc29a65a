"""What is proposed, by family, and the text that it becomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gapless.conf import NEWEST, Release
from gapless.tune.candidate import Candidate, setting
from gapless.tune.candidates import (
    code_pins,
    expandable,
    garbage_collection,
    large_segment,
    memory_fraction,
    non_split_rounding,
    propose_all,
    removal,
    roundup,
)
from gapless.tune.candidates.max_split import values
from gapless.tune.combinations import combine
from gapless.tune.edits import scaled
from gapless.tune.fix import Kind
from gapless.tune.search import try_all
from gapless.tune.sizes import DecisiveSizes, decisive_sizes
from gapless.units import MIB
from tests.programs import Program, user
from tests.unit.tune.made import case, pinned, training

NONE = DecisiveSizes(0, (), (), (), ())


def confs(candidates: list[Candidate | None]) -> list[str | None]:
    return [candidate.conf for candidate in candidates if candidate]


def test_decisive_sizes_are_read_off_the_recording(tmp_path: Path) -> None:
    sizes = decisive_sizes(case(pinned(tmp_path)))

    assert sizes == DecisiveSizes(
        request=105 * MIB, missed=(110 * MIB, 50 * MIB), segments=(110 * MIB,), pins=(10 * MIB,), holes=(100 * MIB,)
    )
    assert sizes.all == tuple(size * MIB for size in (10, 50, 100, 105, 110))


def test_split_limits_come_from_the_gaps_between_sizes_first() -> None:
    assert values((30 * MIB, 1070 * MIB, 1090 * MIB)) == [128, 25, 1080, 30, 31, 1070, 1071, 1090]


def test_split_limits_are_never_below_what_releases_accept() -> None:
    assert values((2 * MIB, 5 * MIB, 40 * MIB)) == [32, 40]


def test_expandable_segments_take_the_split_limit_out(tmp_path: Path) -> None:
    recording = pinned(tmp_path, conf="max_split_size_mb:50,garbage_collection_threshold:0.8")

    found = confs(list(expandable.propose(case(recording), NONE)))

    assert found == [
        "garbage_collection_threshold:0.8,expandable_segments:True",
        "max_split_size_mb:50,garbage_collection_threshold:0.8,expandable_segments:True",
    ]


def test_each_own_option_is_taken_out_once_and_all_together(tmp_path: Path) -> None:
    conf = "max_split_size_mb:50,pinned_use_background_threads:True,roundup_power2_divisions:8"
    program = Program(capacity_bytes=64 * MIB, conf=conf)
    program.alloc("a", MIB)

    found = confs(list(removal.propose(case(program.open(tmp_path)), NONE)))

    assert found == [
        "pinned_use_background_threads:True,roundup_power2_divisions:8",
        "max_split_size_mb:50,pinned_use_background_threads:True",
        "pinned_use_background_threads:True",
    ]


@pytest.mark.parametrize(
    ("release", "conf", "words"),
    [
        (
            NEWEST,
            "garbage_collection_threshold:0.8,per_process_memory_fraction:0.99",
            "set garbage_collection_threshold:0.8,per_process_memory_fraction:0.99",
        ),
        (
            Release(2, 9),
            "garbage_collection_threshold:0.8",
            "set garbage_collection_threshold:0.8, call torch.cuda.set_per_process_memory_fraction(0.99)",
        ),
    ],
)
def test_garbage_collection_comes_with_the_fraction_that_it_needs(
    tmp_path: Path, release: Release, conf: str, words: str
) -> None:
    first = next(iter(garbage_collection.propose(case(pinned(tmp_path, release=release)), NONE)))

    assert first is not None
    assert (first.conf, first.change) == (conf, words)


def test_a_release_is_not_offered_what_it_does_not_know(tmp_path: Path) -> None:
    old = case(pinned(tmp_path, release=Release(2, 5)))

    assert setting(old, {"large_segment_size_mb": "64"}) is None
    assert setting(old, {"max_non_split_rounding_mb": "64", "max_split_size_mb": "50"}) is None
    assert setting(old, {"max_split_size_mb": "50"}) is not None
    assert all(c.conf is None or "rounding" not in c.conf for c in propose_all(old, decisive_sizes(old)))


def test_a_value_that_the_release_refuses_is_no_candidate(tmp_path: Path) -> None:
    made = case(pinned(tmp_path, release=Release(2, 9)))

    assert setting(made, {"max_split_size_mb": "20"}) is None
    assert setting(made, {"max_split_size_mb": "21"}) is not None


def test_what_changes_nothing_is_no_candidate(tmp_path: Path) -> None:
    assert setting(case(pinned(tmp_path)), {"expandable_segments": "False"}) is None


def test_large_segments_are_offered_where_they_hold_memory(tmp_path: Path) -> None:
    program = Program(capacity_bytes=1024 * MIB)
    for k in range(20):
        program.alloc(k, 3 * MIB, at=user(1))
    few = case(pinned(tmp_path))
    many = case(program.open(tmp_path))

    assert confs(list(large_segment.propose(few, NONE))) == []
    assert confs(list(large_segment.propose(many, NONE))) == [
        f"large_segment_size_mb:{size}" for size in (64, 128, 32, 12)
    ]


def test_rounding_is_offered_where_one_place_asks_for_many_sizes(tmp_path: Path) -> None:
    program = Program(capacity_bytes=4096 * MIB)
    for k in range(6):
        program.alloc(k, (70 + 3 * k) * MIB, at=user(1))
        program.alloc(("same", k), 20 * MIB, at=user(2))

    varied = case(program.open(tmp_path))

    assert roundup.varied_classes(varied) == (6,)
    assert confs(list(roundup.propose(varied, NONE)))[:2] == [
        "roundup_power2_divisions:4",
        "roundup_power2_divisions:[32:0,64:4]",
    ]
    assert roundup.varied_classes(case(pinned(tmp_path))) == ()


def test_rounding_of_uncut_blocks_spans_the_distances_between_large_sizes(tmp_path: Path) -> None:
    sizes = DecisiveSizes(300 * MIB, (200 * MIB,), (), (), ())

    found = confs(list(non_split_rounding.propose(case(pinned(tmp_path)), sizes)))

    assert (
        found
        == [
            "max_split_size_mb:64,max_non_split_rounding_mb:101",
            "max_split_size_mb:256,max_non_split_rounding_mb:101",
        ][:1]
    )


def test_room_for_others_becomes_the_largest_fraction_that_leaves_it(tmp_path: Path) -> None:
    made = case(pinned(tmp_path), card=4000 * MIB, leave_free=1000 * MIB)

    (alone,) = (candidate for candidate in memory_fraction.propose(made, NONE) if candidate)
    together = setting(made, {"expandable_segments": "True"})

    assert (alone.kind, alone.conf, alone.fraction) == (Kind.SETTING, "per_process_memory_fraction:0.75", 0.75)
    assert together is not None
    assert together.conf == "expandable_segments:True,per_process_memory_fraction:0.745"  # less a page of 20 MiB
    assert together.options(made).limit_bytes == 2980 * MIB


def test_pins_are_freed_by_place(tmp_path: Path) -> None:
    (candidate,) = (found for found in code_pins.propose(case(pinned(tmp_path)), NONE) if found)

    assert candidate.change == "free what train.py:12 keeps (10 blocks, 100.00 MiB) before the request that failed"
    assert candidate.edited_bytes == 100 * MIB


def test_what_is_assumed_of_edited_allocations_is_what_they_hold_at_one_time(tmp_path: Path) -> None:
    """Four steps of three activations of 64 MiB each, of which one step's are live at one time."""
    made = case(training(tmp_path))
    rows = np.flatnonzero(made.recording.trace.allocations.requested == 64 * MIB)

    smaller = scaled(made, rows, 0.5, "half")

    assert len(rows) == 12
    assert smaller is not None
    assert smaller.edited_bytes == 192 * MIB


def test_together_with_others_expandable_segments_keep_their_page_free(tmp_path: Path) -> None:
    made = case(pinned(tmp_path), card=4000 * MIB, leave_free=1000 * MIB)
    tried = try_all(made, [one for one in propose_all(made, decisive_sizes(made)) if one.kind is Kind.SETTING])

    found = {bool("expandable_segments:True" in (one.conf or "")): one.fraction for one in combine(made, tried)}

    assert found == {True: 0.745, False: 0.75}
