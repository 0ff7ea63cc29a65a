"""Which part of a step runs, told by the code on the stack."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gapless.recorder.phase import phase_now, phase_of_traceback, stack_now, stack_of_traceback

OUTSIDE = SimpleNamespace(_C=SimpleNamespace(_current_graph_task_id=lambda: -1))
INSIDE = SimpleNamespace(_C=SimpleNamespace(_current_graph_task_id=lambda: 4))
PLACES = [
    ("/x/torch/optim/optimizer.py", "wrapper", "optimizer"),
    ("/x/torch/autograd/graph.py", "_engine_run_backward", "backward"),
    ("/x/torch/nn/modules/module.py", "_call_impl", "forward"),
    ("/x/torch/nn/modules/module.py", "to", "other"),
    ("/mine/module.py", "_call_impl", "other"),
]


def called_from(file: str, name: str, then: object) -> object:
    """What a function says that a function of this name in this file calls."""
    scope = {"then": then}
    exec(compile(f"def {name}(): return then()", file, "exec"), scope)  # a stack cannot be made otherwise
    return scope[name]()  # type: ignore[operator]


@pytest.mark.parametrize(("file", "name", "phase"), PLACES)
def test_the_phase_is_told_by_the_stack(file: str, name: str, phase: str) -> None:
    assert called_from(file, name, lambda: phase_now(OUTSIDE)) == phase


def test_the_innermost_counts() -> None:
    (optimizer, *_), (forward, *_) = PLACES[0], PLACES[2]

    inside = called_from(optimizer, "wrapper", lambda: called_from(forward, "_call_impl", lambda: phase_now(OUTSIDE)))
    assert inside == "forward", "a closure of the optimizer's"


def test_a_forward_within_backward_is_backward() -> None:
    assert called_from(PLACES[2][0], "_call_impl", lambda: phase_now(INSIDE)) == "backward"


@pytest.mark.parametrize(("file", "name", "phase"), PLACES)
def test_a_traceback_tells_it_as_well(file: str, name: str, phase: str) -> None:
    def fail() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError) as raised:
        called_from(file, name, fail)

    assert phase_of_traceback(raised.value.__traceback__) == phase
    assert stack_of_traceback(raised.value.__traceback__)[1] == f"{file}:1 {name}"


def test_a_stack_is_bounded_and_begins_inside() -> None:
    def deep(left: int) -> list[str]:
        return deep(left - 1) if left else stack_now()

    stack = deep(100)

    assert len(stack) == 30
    assert stack[0].endswith(" deep")
