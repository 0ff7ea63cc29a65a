"""Outcomes and grades: what may be said of a replay, and what may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.conf import Release
from gapless.recording import Recording
from gapless.tune import Grade, Outcome
from gapless.tune.candidate import Candidate, of_conf
from gapless.tune.case import Case
from gapless.tune.fix import Kind
from gapless.tune.search import try_all
from gapless.units import MIB
from tests.programs import Program, in_model, in_optimizer, user
from tests.unit.tune.made import case, pinned, training

AS_IT_IS = Candidate(kind=Kind.SETTING, change="nothing")


def judged(made: Case, conf: str | None = None) -> tuple[Outcome, Grade, int]:
    """Outcome, grade and assumed bytes under a settings string; None: as it is."""
    candidate = AS_IT_IS if conf is None else of_conf(made, conf, conf)
    assert candidate is not None
    (one,) = try_all(made, [candidate])
    return one.outcome, one.fix.grade, one.fix.assumed_bytes


def test_serving_the_last_request_of_a_complete_recording_is_proved(tmp_path: Path) -> None:
    made = case(pinned(tmp_path))

    assert judged(made) == (Outcome.FAILS, Grade.PROVED, 0)
    assert judged(made, "expandable_segments:True") == (Outcome.SERVES_REQUEST, Grade.PROVED, 0)


def test_a_late_start_is_an_assumption_about_all_that_was_reserved_then(tmp_path: Path) -> None:
    made = case(pinned(tmp_path, starts="weights"))

    assert judged(made) == (Outcome.FAILS, Grade.MODELLED, 50 * MIB)
    assert judged(made, "expandable_segments:True") == (Outcome.SERVES_REQUEST, Grade.MODELLED, 50 * MIB)


def test_a_cure_of_what_happened_before_the_recording_is_not_known(tmp_path: Path) -> None:
    """The cuts were made before; imagined anew there are none, and nothing fails even without a cure."""
    made = case(pinned(tmp_path, starts="cuts"))

    assert not made.repeats_itself
    assert judged(made, "expandable_segments:True") == (Outcome.UNKNOWN, Grade.GUESS, 1150 * MIB)


def growing(folder: Path) -> Recording:
    """Lives with 500 MiB, then asks for 300 more: never so much before."""
    program = Program(capacity_bytes=700 * MIB)
    for k in range(5):
        program.alloc(k, 100 * MIB, at=user(1))
    assert not program.alloc("more", 300 * MIB, at=user(2))
    return program.open(folder)


def test_a_demand_that_was_never_seen_before_is_not_proved(tmp_path: Path) -> None:
    made = case(growing(tmp_path), card=1000 * MIB)

    assert judged(made) == (Outcome.SERVES_REQUEST, Grade.MODELLED, 300 * MIB)
    assert judged(case(growing(tmp_path))) == (Outcome.FAILS, Grade.PROVED, 0)


def test_a_run_survives_only_with_a_whole_step_after_its_peak(tmp_path: Path) -> None:
    several = case(training(tmp_path, steps=4))
    one = case(training(tmp_path, steps=1))

    assert several.step_count == 3
    assert judged(several) == (Outcome.SURVIVES, Grade.PROVED, 0)
    assert judged(one) == (Outcome.SERVES_REQUEST, Grade.PROVED, 0)


def test_a_card_that_is_too_small_fails_and_that_is_proved(tmp_path: Path) -> None:
    made = case(training(tmp_path), card=291 * MIB)

    assert judged(made) == (Outcome.FAILS, Grade.PROVED, 0)
    assert judged(case(training(tmp_path), card=292 * MIB))[0] is Outcome.SURVIVES


def caught(folder: Path, *, asks_again: bool) -> Recording:
    """A request fails, the program catches that and goes on training, with or without asking again."""
    program = Program(capacity_bytes=1000 * MIB)
    program.alloc("weights", 100 * MIB, at=user(20, "setup"))
    for step in range(5):
        program.alloc((step, "activation"), 400 * MIB, at=in_model(30))
        large = 600 if step == 1 else 64
        served = program.alloc((step, "large"), large * MIB, at=in_model(31))
        assert served == (step != 1)
        program.free((step, "activation"), *([(step, "large")] if served else []))
        if step == 2 and asks_again:
            assert program.alloc("again", 600 * MIB, at=in_model(31))
            program.free("again")
        program.alloc((step, "moment"), 32 * MIB, at=in_optimizer())
        program.free((step, "moment"))
    return program.open(folder)


def test_a_caught_failure_survives_only_if_the_same_was_asked_for_again(tmp_path: Path) -> None:
    again = case(caught(tmp_path, asks_again=True), card=2000 * MIB)
    never = case(caught(tmp_path, asks_again=False), card=2000 * MIB)

    assert again.whole_steps_after >= 1
    assert never.whole_steps_after >= 1
    assert judged(again)[0] is Outcome.SURVIVES
    assert judged(never)[0] is Outcome.SERVES_REQUEST


def test_growth_is_never_a_cure_that_is_proved(tmp_path: Path) -> None:
    recording = training(tmp_path, steps=40, leak=16 * MIB, capacity_bytes=800 * MIB)
    made = case(recording, card=1600 * MIB)

    outcome, grade, assumed = judged(made)

    assert made.growth_bytes_per_step == 16 * MIB
    assert (outcome, grade, assumed) == (Outcome.SERVES_REQUEST, Grade.MODELLED, 16 * MIB)


def test_a_model_that_does_not_repeat_the_recording_only_guesses(tmp_path: Path) -> None:
    """Recorded under one split limit, opened as if under another."""
    program = Program(capacity_bytes=600 * MIB, conf="max_split_size_mb:50")
    for k in range(4):
        program.alloc(k, 100 * MIB, at=user(1))
        program.free(k)
        program.alloc(("small", k), 30 * MIB, at=user(2))
    recording = program.open(tmp_path, conf="")

    assert recording.check is not None
    assert not recording.check.exact
    assert judged(case(recording))[1] is Grade.GUESS


@pytest.mark.parametrize(("release", "known"), [(Release(2, 11), False), (Release(2, 13), True)])
def test_orders_of_addresses_that_disagree_leave_the_outcome_unknown(
    tmp_path: Path, release: Release, known: bool
) -> None:
    """Two equal free segments; which of them is cut by address decides whether the other can be given back."""
    program = Program(capacity_bytes=130 * MIB, release=release)
    program.alloc("a", 40 * MIB, at=user(1))
    program.alloc("b", 40 * MIB, at=user(1))
    program.alloc("stays", 10 * MIB, at=user(1))
    program.free("a", "b")
    program.alloc("cut", 30 * MIB, at=user(2))
    program.alloc("in the rest", 9 * MIB, at=user(3))
    program.free("cut")
    made = case(program.open(tmp_path))

    (one,) = try_all(made, [AS_IT_IS])

    assert len(one.replay.results) == (1 if known else 2)
    assert one.outcome is Outcome.SERVES_REQUEST
