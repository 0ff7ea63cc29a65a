"""Sites: the path through the reader's code, and what it calls."""

from __future__ import annotations

import pytest

from gapless.explain.finding import Stack
from gapless.explain.sites import NOWHERE, Callee, site_of

TORCH = "site-packages/torch/"
MODULE = (TORCH + "nn/modules/module.py", 1783, "_wrapped_call_impl")
LOOP, MAIN = ("train.py", 41, "train"), ("train.py", 90, "<module>")


@pytest.mark.parametrize(
    ("callee", "inside"),
    [
        ("", ()),
        ("module", ((TORCH + "nn/modules/linear.py", 134, "forward"), MODULE)),
        ("module", (("model.py", 9, "forward"), MODULE)),
        ("module", (("model.py", 9, "forward"),)),  # native frames only: torch's own are missing
        ("torch", ((TORCH + "nn/modules/module.py", 930, "_apply"),)),
        ("torch", ((TORCH + "nn/functional.py", 3500, "cross_entropy"),)),
        ("optimizer", ((TORCH + "optim/adam.py", 180, "_init_group"), (TORCH + "optim/adam.py", 230, "step"))),
        ("backward", ((TORCH + "autograd/__init__.py", 355, "backward"),)),
        ("backward", ((TORCH + "_tensor.py", 600, "backward"),)),
        ("torch", ((TORCH + "_tensor.py", 40, "wrapped"),)),
    ],
)
def test_the_path_ends_where_torch_begins(callee: Callee, inside: Stack) -> None:
    site = site_of((*inside, LOOP, MAIN))

    assert (site.path, site.callee) == ((MAIN, LOOP), callee)


def test_all_layers_of_one_call_have_one_site() -> None:
    first = (("model.py", 9, "forward"), MODULE, ("model.py", 30, "forward"), MODULE, LOOP, MAIN)
    second = (("blocks.py", 77, "attend"), ("model.py", 14, "forward"), MODULE, ("model.py", 31, "forward"), *first[3:])

    assert site_of(first) == site_of(second)


def test_another_line_of_the_loop_is_another_site() -> None:
    assert site_of((MODULE, LOOP, MAIN)) != site_of((MODULE, ("train.py", 44, "train"), MAIN))


def test_decorators_and_contexts_of_torch_are_looked_through() -> None:
    decorator = (TORCH + "utils/_contextlib.py", 124, "decorate_context")
    evaluate = ("train.py", 60, "evaluate")

    assert site_of((MODULE, evaluate, decorator, LOOP, MAIN)).path == (MAIN, LOOP, evaluate)


def test_native_frames_do_not_count() -> None:
    native = ("??", 0, "_start")

    assert site_of(
        (("CUDACachingAllocator.cpp", 0, "malloc"), MODULE, LOOP, ("??", 0, "PyEval"), MAIN, native)
    ) == site_of((MODULE, LOOP, MAIN))


@pytest.mark.parametrize(
    "stack", [(), (("??", 0, "clone"),), ((TORCH + "utils/checkpoint.py", 5, "recompute"), MODULE)]
)
def test_threads_of_autograd_are_nowhere(stack: Stack) -> None:
    assert site_of(stack) == NOWHERE
