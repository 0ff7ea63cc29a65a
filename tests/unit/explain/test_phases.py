"""Phases: from which event on the program is where, in recordings of a few events."""

from __future__ import annotations

from pathlib import Path

from gapless.explain.kinds.phases import Phase, Phases, phases_of
from gapless.explain.stack_table import StackTable
from gapless.explain.steps import steps_of
from tests.unit.explain.diary import MIB, Diary, Frames, at, model_call, optimizer_step
from tests.unit.explain.programs import MAKES_WEIGHTS

TORCH = "site-packages/torch/"
BATCH = at("train.py", 19, "train")
RECOMPUTED: Frames = [("model.py", 8, "forward"), (TORCH + "utils/checkpoint.py", 1500, "recompute_fn")]
OWN_BACKWARD: Frames = [("ops.py", 30, "backward"), (TORCH + "autograd/function.py", 309, "apply")]
ROOT: Frames = [(TORCH + "autograd/__init__.py", 355, "backward"), (TORCH + "_tensor.py", 600, "backward"), *BATCH]
CLIP: Frames = [(TORCH + "nn/utils/clip_grad.py", 70, "_get_total_norm"), ("train.py", 21, "train")]
NO_FRAMES: Frames = []


def runs_of(folder: Path, *stacks: Frames) -> list[tuple[Phase, int]]:
    """Each run's phase and length, where each allocation of 64 MiB is one of the stacks and nothing is freed."""
    diary = Diary()
    born = []
    for number, stack in enumerate(stacks):
        diary.need(f"x{number}", 64 * MIB, stack or None)
        born.append(len(diary.events) - 1)
    phases = phases_in(diary, folder)
    begins = [*phases.begins.tolist(), len(diary.events)]
    counts = [sum(begins[k] <= event < begins[k + 1] for event in born) for k in range(len(phases.begins))]
    return [(Phase(phase), count) for phase, count in zip(phases.phase, counts, strict=True)]


def phases_in(diary: Diary, folder: Path) -> Phases:
    stacks = StackTable(diary.open(folder))
    return phases_of(stacks, steps_of(stacks))


def test_a_training_step_is_told_by_its_stacks(tmp_path: Path) -> None:
    found = runs_of(
        *(tmp_path, MAKES_WEIGHTS, MAKES_WEIGHTS, BATCH, model_call(8), model_call(9), BATCH),
        *(ROOT, NO_FRAMES, NO_FRAMES, optimizer_step(), optimizer_step(), BATCH, model_call(8)),
    )

    assert found == [
        *((Phase.SETUP, 3), (Phase.FORWARD, 3), (Phase.BACKWARD, 3)),
        *((Phase.OPTIMIZER, 2), (Phase.BETWEEN, 1), (Phase.FORWARD, 1)),
    ]


def test_what_threads_of_autograd_run_in_python_is_backward(tmp_path: Path) -> None:
    found = runs_of(tmp_path, model_call(8), OWN_BACKWARD, model_call(8), RECOMPUTED, NO_FRAMES, model_call(8))

    assert found == [
        *((Phase.FORWARD, 1), (Phase.BACKWARD, 1), (Phase.FORWARD, 1)),
        *((Phase.BACKWARD, 2), (Phase.FORWARD, 1)),
    ]


def test_backward_is_over_when_the_programs_own_thread_allocates(tmp_path: Path) -> None:
    found = runs_of(tmp_path, model_call(8), NO_FRAMES, CLIP, at("train.py", 25, "train"), NO_FRAMES, optimizer_step())

    assert found == [
        (Phase.FORWARD, 1),
        (Phase.BACKWARD, 1),
        (Phase.BETWEEN, 2),
        (Phase.BACKWARD, 1),
        (Phase.OPTIMIZER, 1),
    ]


def test_another_thread_does_not_end_backward(tmp_path: Path) -> None:
    loader = [("loader.py", 4, "fetch"), ("threading.py", 1002, "_bootstrap")]

    assert runs_of(tmp_path, model_call(8), NO_FRAMES, loader, NO_FRAMES) == [(Phase.FORWARD, 1), (Phase.BACKWARD, 3)]


def test_what_has_no_stack_before_the_first_forward_pass_is_setup(tmp_path: Path) -> None:
    assert runs_of(tmp_path, NO_FRAMES, MAKES_WEIGHTS, model_call(8)) == [(Phase.SETUP, 2), (Phase.FORWARD, 1)]


def test_an_optimizer_that_makes_its_state_early_is_not_setup(tmp_path: Path) -> None:
    assert runs_of(tmp_path, MAKES_WEIGHTS, optimizer_step(), model_call(8)) == [
        (Phase.SETUP, 1),
        (Phase.OPTIMIZER, 1),
        (Phase.FORWARD, 1),
    ]


def test_stacks_that_tell_nothing_are_one_run_of_setup(tmp_path: Path) -> None:
    assert runs_of(tmp_path, NO_FRAMES, BATCH, NO_FRAMES) == [(Phase.SETUP, 3)]


def test_each_call_of_a_model_is_a_run_where_nothing_is_trained(tmp_path: Path) -> None:
    found = runs_of(tmp_path, MAKES_WEIGHTS, *([BATCH, model_call(8), model_call(9)] * 3))

    assert found == [(Phase.SETUP, 2), (Phase.FORWARD, 3), (Phase.FORWARD, 3), (Phase.FORWARD, 2)]


def test_what_comes_again_in_every_step_is_the_forward_pass_of_a_program_without_modules(tmp_path: Path) -> None:
    weights, work = at("train.py", 5, "train"), at("train.py", 18, "train")
    step = [BATCH, work, NO_FRAMES, optimizer_step()]
    found = runs_of(tmp_path, weights, *step, *step, *step)

    cycle = [(Phase.FORWARD, 2), (Phase.BACKWARD, 1), (Phase.OPTIMIZER, 1)]
    assert found == [(Phase.SETUP, 1), *cycle, *cycle, *cycle]


def test_events_before_the_recording_are_in_no_run(tmp_path: Path) -> None:
    diary = Diary()
    for number, stack in enumerate((MAKES_WEIGHTS, model_call(8), None)):
        diary.need(f"x{number}", 64 * MIB, stack)
    phases = phases_in(diary, tmp_path)

    # Each takes a segment first: allocations are events 1, 3 and 5. The first run begins at the beginning.
    assert phases.begins.tolist() == [0, 3, 5]
    assert phases.run_of(phases.begins - 1).tolist() == [-1, 0, 1]
    assert [phases.first(phase) for phase in Phase] == [0, 3, 5, None, None]
    assert [phases.has(phase) for phase in Phase] == [True, True, True, False, False]
