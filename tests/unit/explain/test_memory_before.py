"""Memory from before the recording: what it is taken for, by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gapless.explain.kinds.memory_before import oldest_of_each_size
from tests.unit.explain.diary import MIB, Diary, model_call, optimizer_step
from tests.unit.explain.known import Net, case_of, kinds_in, named


@pytest.fixture
def diary() -> Diary:
    return Diary(capacity_bytes=2048 * MIB)


@pytest.fixture
def net(diary: Diary) -> Net:
    return Net(diary)


def test_weights_are_the_oldest_of_each_size_and_the_rest_the_optimizers(
    net: Net, diary: Diary, tmp_path: Path
) -> None:
    net.train(1)
    begin = len(diary.events)
    diary.need("batch1", 4 * MIB, [("train.py", 19, "train")])
    net.free("batch0")
    for step in (2, 3):
        net.forward(step)
        net.backward()
        net.optimize(first=False)
    net.forward(4)
    diary.drop(begin)

    assert kinds_in(diary, tmp_path) == named(
        ("weights", "weight0 weight1"), ("optimizer", "state0 state1"), ("activations", "batch4 kept0 kept1")
    )


def test_gradients_that_are_added_to_stand_as_often_as_the_weights(net: Net, diary: Diary, tmp_path: Path) -> None:
    """Of each size there are a weight, a gradient and a state; a pass makes one more, which ends in the pass."""
    for layer, size in enumerate((24, 32)):
        diary.need(f"gradient{layer}", size * MIB)
    for layer, size in enumerate((24, 32)):
        diary.need(f"state{layer}", size * MIB, optimizer_step())
    diary.need("table", 90 * MIB)  # frozen: no pass makes anything like it
    begin = len(diary.events)
    for step in range(2):
        net.forward(step)
        for layer in (1, 0):
            diary.need("added", (24, 32)[layer] * MIB)
            net.free("added", f"kept{layer}")
        diary.need("last", 2 * MIB)
        net.free("last")
        diary.need("list", 24 * MIB, optimizer_step(function="_multi_tensor_sgd"))
        net.free("list")
    diary.drop(begin)

    kinds = kinds_in(diary, tmp_path)
    assert kinds == named(
        ("weights", "weight0 weight1 table"),
        ("gradients", "gradient0 gradient1"),
        ("optimizer", "state0 state1"),
        ("temporary", "batch1"),
    )


def test_what_does_not_add_up_is_unknown(diary: Diary, tmp_path: Path) -> None:
    """A pass adds to two gradients of one size, of which seven stand, and to one of another, of which two stand."""
    for number in range(7):
        diary.need(f"old{number}", 24 * MIB)
    diary.need("weight", 10 * MIB)
    diary.need("gradient", 10 * MIB)
    begin = len(diary.events)
    for _ in range(2):
        diary.need("kept", 8 * MIB, model_call(8))
        for size in (24, 10, 24):
            diary.need("added", size * MIB)
            diary.free("added")
        diary.need("last", 2 * MIB)
        diary.free("last", "kept")
        diary.need("list", 4 * MIB, optimizer_step(function="_multi_tensor_sgd"))
        diary.free("list")
    diary.drop(begin)

    assert kinds_in(diary, tmp_path) == named(
        ("unknown", "old0 old1 old2 old3 old4 old5 old6"), ("weights", "weight"), ("gradients", "gradient")
    )


def test_gradients_that_are_named_so_by_native_frames_go_first(net: Net, diary: Diary, tmp_path: Path) -> None:
    """What flows back has the sizes of weights too, three times as often, and ends."""
    accumulated = [("accumulate_grad.cpp", 30, "torch::autograd::AccumulateGrad::apply")]
    diary.need("state0", 24 * MIB)
    diary.need("state1", 32 * MIB)
    begin = len(diary.events)
    for step in range(2):
        net.forward(step)
        for layer in (1, 0):
            for _ in range(3):
                diary.need("flowing", (24, 32)[layer] * MIB)
                diary.free("flowing")
            diary.need(f"gradient{layer}", (24, 32)[layer] * MIB, accumulated)
            net.free(f"kept{layer}")
        net.optimize(first=False)
    diary.drop(begin)

    case = case_of(diary, tmp_path)
    assert sorted(case.gradients.sizes.tolist()) == [24 * MIB, 32 * MIB]
    assert kinds_in(diary, tmp_path) == named(
        ("weights", "weight0 weight1"), ("optimizer", "state0 state1"), ("temporary", "batch1")
    )


def test_all_that_stays_is_weights_where_nothing_is_trained(net: Net, diary: Diary, tmp_path: Path) -> None:
    begin = len(diary.events)
    net.forward(0)
    diary.drop(begin)

    assert kinds_in(diary, tmp_path) == named(("weights", "weight0 weight1"), ("activations", "batch0 kept0 kept1"))


def test_what_goes_tells_by_when_it_goes(net: Net, diary: Diary, tmp_path: Path) -> None:
    """The recording begins when a backward pass has made its gradients and not yet let go of an activation."""
    net.forward(0)
    net.free("kept1")
    for layer, size in enumerate((24, 32)):
        diary.need(f"gradient{layer}", size * MIB)
    begin = len(diary.events)
    net.free("kept0")
    net.optimize(first=True)
    for step in (1, 2):
        net.forward(step)
        net.backward()
        net.optimize(first=False)
    diary.drop(begin)

    case = case_of(diary, tmp_path, "event:0")
    of = dict(zip(case.sizes[~case.is_free].tolist(), case.kinds[~case.is_free].tolist(), strict=True))
    kinds = [case.kinds[case.state.blocks["address"].tolist().index(diary.addresses["weight0"])]]
    assert (of[8 * MIB], kinds) == (3, [0])  # the activation, and a weight
    gradients = case.kinds[(case.sizes == 24 * MIB) & ~case.is_free].tolist()
    assert sorted(gradients) == [0, 1]


def test_a_state_that_each_step_makes_anew_is_the_optimizers(net: Net, diary: Diary, tmp_path: Path) -> None:
    net.train(1)
    begin = len(diary.events)
    for step in (1, 2):
        net.forward(step)
        net.backward()
        for layer, size in enumerate((24, 32)):
            diary.need(f"new{layer}", size * MIB, optimizer_step(function="_single_tensor_adam"))
            net.free(f"state{layer}", f"gradient{layer}")
            diary.blocks[f"state{layer}"] = diary.blocks.pop(f"new{layer}")
    diary.drop(begin)

    case = case_of(diary, tmp_path, "event:2")
    old = case.kinds[(case.sizes == 24 * MIB) & ~case.is_free].tolist()
    assert sorted(old) == [0, 2]  # a weight and a state


def test_two_workspaces_of_matrix_libraries_are_temporary(net: Net, diary: Diary, tmp_path: Path) -> None:
    diary.need("workspace0", 8_519_680, model_call(8))
    diary.need("workspace1", 8_519_680)
    begin = len(diary.events)
    for step in range(2):
        net.forward(step)
        net.backward()
        net.optimize(first=step == 0)
    diary.drop(begin)

    kinds = kinds_in(diary, tmp_path)
    assert (kinds["workspace0"], kinds["workspace1"], kinds["weight0"]) == ("temporary", "temporary", "weights")


def test_workspaces_are_no_weights_though_something_of_their_size_flows_back(diary: Diary, tmp_path: Path) -> None:
    diary.need("weight", 24 * MIB)
    diary.need("state", 24 * MIB)
    diary.need("workspace0", 33_554_432)
    diary.need("workspace1", 33_554_432)
    begin = len(diary.events)
    for _ in range(2):
        diary.need("kept", 8 * MIB, model_call(8))
        diary.need("flowing", 33_554_432)
        diary.free("flowing")
        diary.need("gradient", 24 * MIB)
        diary.free("kept")
        diary.need("list", 4 * MIB, optimizer_step(function="_multi_tensor_sgd"))
        diary.free("list", "gradient")
    diary.drop(begin)

    assert kinds_in(diary, tmp_path) == named(
        ("weights", "weight"), ("optimizer", "state"), ("temporary", "workspace0 workspace1")
    )


def test_the_oldest_of_each_size() -> None:
    sizes, allowed = np.array([5, 7, 5, 5, 9, 7]), np.array([7, 5, 5, 8])

    assert oldest_of_each_size(sizes, allowed, np.array([], dtype=np.int64)).tolist() == [0, 1, 2]
    assert oldest_of_each_size(sizes, allowed, np.array([5, 9, 9])).tolist() == [0, 1]
    assert oldest_of_each_size(sizes, np.array([], dtype=np.int64), allowed).tolist() == []
    assert oldest_of_each_size(np.array([], dtype=np.int64), allowed, allowed).tolist() == []
