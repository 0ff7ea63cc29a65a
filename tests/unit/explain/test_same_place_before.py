"""Habits and lives: places, and what became of what took them, in a program of a few events."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gapless.explain.among import among
from gapless.explain.kinds.same_place_before import Habits
from tests.unit.explain.diary import MIB, Diary, model_call
from tests.unit.explain.known import BATCH, Net, case_of


def habits_of(diary: Diary, folder: Path) -> Habits:
    return case_of(diary, folder).habits


def test_a_place_is_a_stack_after_another_and_a_number_in_its_row(tmp_path: Path) -> None:
    diary = Diary()
    #          0  1  2  3  4  5  6  7  8
    lines = (8, 8, 9, 8, 8, 8, 9, 9, 8)
    for number, line in enumerate(lines):
        diary.need(f"x{number}", 4 * MIB, model_call(line))

    place = habits_of(diary, tmp_path).place
    assert len(set(place.tolist())) == 7
    # The first row of 8 begins the recording, the others follow 9; the third row of 8 begins like the second.
    assert (place[3] == place[8], place[0] == place[3], place[3] == place[4], place[2] == place[6]) == (
        *(True, False, False, True),
    )


def test_what_was_there_before_has_one_place(tmp_path: Path) -> None:
    diary = Diary()
    diary.need("a", 4 * MIB, model_call(8))
    diary.need("b", 8 * MIB, BATCH)
    diary.drop(len(diary.events))
    diary.need("c", 4 * MIB, model_call(8))

    assert habits_of(diary, tmp_path).place.tolist() == [0, 0, 1]


def test_two_from_one_line_have_habits_of_their_own(tmp_path: Path) -> None:
    diary = Diary()
    net = Net(diary)
    net.train(2)
    net.forward(2)
    habits = habits_of(diary, tmp_path)
    lives = habits.lives

    kept = lives.requested == 8 * MIB
    assert kept.sum() == 6
    assert habits.usually_outlives[kept].tolist() == [1] * 6
    assert lives.outlives[kept].tolist() == [1, 1, 1, 1, -1, -1]
    passing = (lives.requested == 12 * MIB) & (lives.stack == lives.stack[kept][0])
    assert habits.usually_outlives[passing].tolist() == [0, 0, 0]
    assert habits.longest_short_life[passing].tolist() == [1, 1, 1]  # it is freed by what comes next


def test_how_the_kept_end(tmp_path: Path) -> None:
    diary = Diary()
    net = Net(diary)
    net.train(3)
    habits = habits_of(diary, tmp_path)
    lives = habits.lives

    def one(size: int, column: np.ndarray) -> int:
        """Of the last allocation of that many MiB."""
        return int(column[np.flatnonzero(lives.requested == size * MIB)[-1]])

    # Activations of 8 MiB end in backward, batches of 4 MiB when the next one is there.
    assert (one(8, habits.usually_outlives_backward), one(4, habits.usually_outlives_backward)) == (0, 1)
    assert (one(8, habits.usually_meets_backward), one(4, habits.usually_meets_backward)) == (1, 1)
    assert (one(8, habits.usually_ends_in_later_backward), one(4, habits.usually_ends_in_later_backward)) == (1, 0)
    assert one(6, habits.usually_ends_in_later_backward) == 0  # flows on after the last gradient, and ends in its pass
    assert (one(8, habits.usually_ends_soon), one(4, habits.usually_ends_soon)) == (1, 0)
    assert (one(8, habits.comes_once), one(4, habits.comes_once)) == (False, False)


def test_half_is_mostly(tmp_path: Path) -> None:
    diary = Diary()
    net = Net(diary)
    for step in range(3):
        diary.need(f"sometimes{step}", 7 * MIB, model_call(5))
        if step == 2:
            net.free("sometimes2")
        net.forward(step)
        net.backward()
        net.optimize(first=step == 0)
        net.free("sometimes0", "sometimes1")
    habits = habits_of(diary, tmp_path)

    sometimes = np.flatnonzero(habits.lives.requested == 7 * MIB)
    assert habits.lives.outlives[sometimes].tolist() == [1, 1, 0]
    assert habits.place[sometimes[1]] == habits.place[sometimes[2]] != habits.place[sometimes[0]]
    assert habits.usually_outlives[sometimes].tolist() == [1, 1, 1]


def test_age_and_length_count_requests_and_frees_alone(tmp_path: Path) -> None:
    """The allocator's own events, here of segments, are not the program's."""
    diary = Diary()
    diary.need("a", 40 * MIB, model_call(8))
    diary.need("b", 50 * MIB, model_call(8))
    diary.free("b")
    diary.empty_cache()
    diary.need("c", 60 * MIB, model_call(8))
    lives = habits_of(diary, tmp_path).lives

    assert lives.length.tolist() == [4, 1, 1]
    assert lives.age(len(diary.events)).tolist() == [4, 3, 1]


def test_among_is_membership() -> None:
    assert among(np.array([3, 1, 2, 9]), np.array([2, 3, 3, 5])).tolist() == [True, False, True, False]
