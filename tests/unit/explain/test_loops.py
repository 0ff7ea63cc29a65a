"""Steps of programs that do other things between them."""

from __future__ import annotations

from pathlib import Path

from gapless.explain import explain
from gapless.explain.steps import Steps
from tests.unit.explain.diary import MIB, Diary, at, model_call
from tests.unit.explain.programs import MAKES_WEIGHTS, backward, build, forward


def evaluate(diary: Diary, passes: int) -> None:
    """Passes of the same model, called at another line, that keep nothing."""
    for _ in range(passes):
        for layer in range(4):
            diary.need(f"score{layer}", 64 * MIB, model_call(8, caller=("train.py", 40, "evaluate")))
        diary.free(*(f"score{layer}" for layer in range(4)))


def train_without_traces_of_an_optimizer(diary: Diary) -> None:
    forward(diary, 8 * MIB)
    backward(diary)
    diary.need("noise", 8 * MIB, at("train.py", 24, "train"))
    diary.free("noise", "input", *(f"gradient{layer}" for layer in range(4)))


def steps_of(diary: Diary, folder: Path) -> Steps | None:
    return explain(diary.open(folder)).case.steps


def test_an_evaluation_after_every_other_step_belongs_to_it(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    for step in range(9):
        train_without_traces_of_an_optimizer(diary)
        evaluate(diary, 2 * (step % 2))

    steps = steps_of(diary, tmp_path)

    assert steps is not None
    assert (steps.site.callee, steps.site.path[-1]) == ("module", ("train.py", 20, "train"))
    assert steps.count == 8


def test_a_short_loop_of_evaluations_makes_no_steps(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    evaluate(diary, 3)
    for number in range(200):
        diary.need(f"x{number % 7}.{number}", 1 * MIB, at("tables.py", 100 + number, "build"))

    assert steps_of(diary, tmp_path) is None


def test_a_model_that_takes_long_to_make_hides_no_steps(tmp_path: Path) -> None:
    diary = Diary()
    for number in range(400):
        diary.need(f"tiny{number}", 512, MAKES_WEIGHTS)
    build(diary)
    for _ in range(5):
        train_without_traces_of_an_optimizer(diary)

    steps = steps_of(diary, tmp_path)

    assert steps is not None
    assert (steps.site.callee, steps.count) == ("module", 4)
