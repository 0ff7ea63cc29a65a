"""Steps: where they begin, in recordings of a few events."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gapless.explain.sites import Site
from gapless.explain.stack_table import StackTable
from gapless.explain.steps import Steps, steps_of
from tests.unit.explain.diary import MIB, Diary, Frames, at, model_call, optimizer_step
from tests.unit.explain.programs import backward, build, forward, optimize

BATCH = at("train.py", 19, "train")


def steps_in(diary: Diary, folder: Path) -> Steps | None:
    return steps_of(StackTable(diary.open(folder)))


def loop(diary: Diary, folder: Path, count: int, body: Callable[[int], None]) -> tuple[Steps | None, list[int]]:
    """The steps found, and the events at which each round of the body began, and the last ended."""
    begins = []
    for k in range(count):
        begins.append(len(diary.events))
        body(k)
    return steps_in(diary, folder), [*begins, len(diary.events)]


def is_in_model(event: dict[str, Any]) -> bool:
    return any(frame["filename"] == "model.py" for frame in event.get("frames", []))


def use(diary: Diary, *places: Frames) -> None:
    """Allocates 4 MiB at each place and lets go of all."""
    for number, frames in enumerate(places):
        diary.need(f"used{number}", 4 * MIB, frames)
    diary.free(*(f"used{number}" for number in range(len(places))))


def test_a_step_ends_with_the_last_allocation_of_the_optimizer(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    ends = []
    for k in range(3):
        forward(diary, 8 * MIB)
        backward(diary)
        optimize(diary, first=k == 0)
        ends.append(len(diary.events))
    steps = steps_in(diary, tmp_path)

    # A step begins with the first allocation after it: the batch of the next one; the last one with the end.
    assert steps is not None
    assert (steps.site.callee, steps.is_training, steps.count) == ("optimizer", True, 2)
    last_of_optimizer = max(k for k, event in enumerate(diary.events) if event["action"] == "alloc")
    assert steps.boundaries.tolist() == [ends[0], ends[1], last_of_optimizer + 1]


def test_without_an_optimizer_a_step_begins_with_the_call_of_the_model(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)
    steps, begins = loop(diary, tmp_path, 4, lambda _: use(diary, BATCH, model_call(8), model_call(9), model_call(8)))

    assert steps is not None
    assert (steps.site.callee, steps.site.path, steps.count) == ("module", (("train.py", 20, "train"),), 3)
    in_model = [k for k, event in enumerate(diary.events) if event["action"] == "alloc" and is_in_model(event)]
    assert steps.boundaries.tolist() == [next(k for k in in_model if k >= begin) for begin in begins[:-1]]


def test_another_loop_counts_when_it_is_most_of_the_recording(tmp_path: Path) -> None:
    diary = Diary()
    steps, _ = loop(diary, tmp_path, 5, lambda _: use(diary, at("serve.py", 5), at("serve.py", 6), at("serve.py", 7)))

    assert steps is not None
    assert (steps.site.callee, steps.is_training, steps.count) == ("", False, 4)


def test_events_find_their_step() -> None:
    steps = Steps(np.array([10, 20, 30]), Site((), "optimizer"))

    assert [steps.step_of(event) for event in (9, 10, 19, 20, 30, 99)] == [None, 0, 0, 1, 2, 2]
    assert steps.steps_of(np.array([9, 10, 19, 20, 30, 99])).tolist() == [-1, 0, 0, 1, 2, 2]
    assert [steps.whole_steps_after(event) for event in (0, 10, 11, 20, 21, 31)] == [2, 2, 1, 1, 0, 0]


def test_nothing_comes_round_in_what_happens_once(tmp_path: Path) -> None:
    diary = Diary()
    for line in range(12):
        diary.need(f"once{line}", 4 * MIB, at("setup.py", line))

    assert steps_in(diary, tmp_path) is None


def test_rounds_that_are_not_alike_are_no_steps(tmp_path: Path) -> None:
    diary = Diary()
    kinds = ((3,), (4, 5, 6, 7), (8, 9))
    steps, _ = loop(
        diary,
        tmp_path,
        6,
        lambda k: use(diary, model_call(1), *(at("train.py", 30 + 10 * (k % 3) + j) for j in kinds[k % 3])),
    )

    assert steps is None


def test_nothing_is_said_without_stacks(tmp_path: Path) -> None:
    diary = Diary()
    for k in range(6):
        diary.need(f"x{k}", 4 * MIB)
        diary.free(f"x{k}")

    assert steps_in(diary, tmp_path) is None


def test_a_recording_without_allocations_has_no_steps(tmp_path: Path) -> None:
    diary = Diary()
    diary.need("x", 4 * MIB)
    diary.free("x")
    diary.empty_cache()
    diary.drop(2)

    assert steps_in(diary, tmp_path) is None


def test_micro_batches_add_up_to_the_step_of_the_optimizer(tmp_path: Path) -> None:
    diary = Diary()
    build(diary)

    def step(_: int) -> None:
        for _micro in range(3):
            use(diary, BATCH, model_call(8), model_call(9))
        use(diary, optimizer_step(function="_single_tensor_adam"))

    steps, begins = loop(diary, tmp_path, 4, step)

    assert steps is not None
    assert (steps.site.callee, steps.count) == ("optimizer", 3)
    assert np.diff(steps.boundaries)[:2].tolist() == np.diff(begins)[1:3].tolist()
