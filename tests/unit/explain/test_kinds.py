"""Kinds: what each block of small programs is taken for, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.explain import ExplainOptions
from gapless.explain.case import open_case
from gapless.explain.finding import KINDS
from gapless.recording import open_recordings
from tests.recordings import each_shared_snapshot
from tests.unit.explain.diary import MIB, Diary, Frames, at, model_call, optimizer_step
from tests.unit.explain.known import BATCH, FOREACH, Net, kinds_in, named
from tests.unit.explain.programs import MAKES_WEIGHTS

TORCH = "site-packages/torch/"
UPDATE: Frames = [("train.py", 70, "update"), ("train.py", 25, "train")]


@pytest.fixture
def diary() -> Diary:
    return Diary(capacity_bytes=1024 * MIB)


@pytest.fixture
def net(diary: Diary) -> Net:
    return Net(diary)


def test_between_forward_and_backward(net: Net, diary: Diary, tmp_path: Path) -> None:
    net.train(2)
    net.forward(2)

    assert kinds_in(diary, tmp_path) == named(
        ("weights", "weight0 weight1"), ("optimizer", "state0 state1"), ("activations", "batch2 kept0 kept1")
    )


def test_what_the_same_line_makes_second_is_temporary_where_it_was(net: Net, diary: Diary, tmp_path: Path) -> None:
    net.train(2)
    net.diary.need("batch2", 20 * MIB, BATCH)
    net.free("batch1")
    diary.need("kept0", 40 * MIB, model_call(8))
    diary.need("passing", 60 * MIB, model_call(8))
    assert not diary.malloc("too much", 900 * MIB, model_call(9))

    assert kinds_in(diary, tmp_path, None) == named(
        ("weights", "weight0 weight1"),
        ("optimizer", "state0 state1"),
        ("activations", "batch2 kept0"),
        ("temporary", "passing"),
    )


def test_in_the_first_forward_pass_all_that_is_not_gone_counts_as_kept(net: Net, diary: Diary, tmp_path: Path) -> None:
    net.forward(0)

    assert kinds_in(diary, tmp_path) == named(("weights", "weight0 weight1"), ("activations", "batch0 kept0 kept1"))


def test_in_the_middle_of_backward(net: Net, diary: Diary, tmp_path: Path) -> None:
    net.train(2)
    net.forward(2)
    diary.need("flowing", 6 * MIB)
    diary.need("gradient1", 32 * MIB)
    net.free("kept1")
    assert not diary.malloc("too much", 900 * MIB)

    assert kinds_in(diary, tmp_path, None) == named(
        ("weights", "weight0 weight1"),
        ("optimizer", "state0 state1"),
        ("activations", "batch2 kept0"),
        ("gradients", "gradient1"),
        ("temporary", "flowing"),
    )


def test_a_batch_that_the_program_holds_is_temporary_once_backward_is_over(
    net: Net, diary: Diary, tmp_path: Path
) -> None:
    net.train(2)
    net.forward(2)
    net.backward()

    assert kinds_in(diary, tmp_path) == named(
        ("weights", "weight0 weight1"),
        ("optimizer", "state0 state1"),
        ("gradients", "gradient0 gradient1"),
        ("temporary", "batch2"),
    )


def test_in_the_first_step_of_the_optimizer(net: Net, diary: Diary, tmp_path: Path) -> None:
    net.forward(0)
    net.backward()
    diary.need("state0", 24 * MIB, optimizer_step())
    diary.need("state1", 32 * MIB, optimizer_step())
    diary.need("list0", 24 * MIB, FOREACH)
    assert not diary.malloc("too much", 900 * MIB, FOREACH)

    assert kinds_in(diary, tmp_path, None) == named(
        ("weights", "weight0 weight1"),
        ("optimizer", "state0 state1"),
        ("gradients", "gradient0 gradient1"),
        ("activations", "batch0"),  # nothing has shown yet that it ends after backward
        ("temporary", "list0"),
    )


def test_a_batch_that_autocast_copies_is_temporary(net: Net, diary: Diary, tmp_path: Path) -> None:
    """The first thing that the model makes is half as large: that is kept, not the batch."""
    for step in range(3):
        diary.need(f"batch{step}", 8 * MIB, BATCH)
        net.free(f"batch{step - 1}")
        diary.need("copy", 4 * MIB, model_call(8))
        diary.need("kept0", 6 * MIB, model_call(8))
        if step < 2:
            net.backward()
            net.free("copy")
            net.optimize(first=step == 0)

    assert kinds_in(diary, tmp_path) == named(
        ("weights", "weight0 weight1"),
        ("optimizer", "state0 state1"),
        ("activations", "copy kept0"),
        ("temporary", "batch2"),
    )


def test_what_evaluation_holds_meets_no_backward_and_is_temporary(net: Net, diary: Diary, tmp_path: Path) -> None:
    evaluate = ("train.py", 60, "evaluate")
    for step in range(3):
        net.forward(step)
        net.backward()
        net.optimize(first=step == 0)
        diary.need("given", 10 * MIB, [evaluate, ("train.py", 25, "train")])
        diary.need(
            "answer", 7 * MIB, [("model.py", 8, "forward"), *model_call(8)[1:2], evaluate, ("train.py", 25, "train")]
        )
        if step < 2:
            diary.free("answer", "given")

    kinds = kinds_in(diary, tmp_path)
    assert (kinds["given"], kinds["answer"]) == ("temporary", "temporary")


def test_a_batch_that_a_kept_graph_holds_is_activations(net: Net, diary: Diary, tmp_path: Path) -> None:
    """Beside it, from the same line, stand its targets, which end after backward as always."""
    for step in range(3):
        diary.need(f"batch{step}", 6 * MIB, BATCH)
        diary.need(f"targets{step}", 2 * MIB, BATCH)
        net.free(f"targets{step - 1}")
        for layer in range(2):
            diary.need(f"kept{layer}", 8 * MIB, model_call(8 + layer))
        net.backward()
        net.optimize(first=step == 0)

    kinds = kinds_in(diary, tmp_path)
    assert {kinds[f"batch{step}"] for step in range(3)} == {"activations"}
    assert kinds["targets2"] == "temporary"


def test_answers_and_caches_of_a_model_that_is_not_trained(net: Net, diary: Diary, tmp_path: Path) -> None:
    """A cache is replaced in the next call, the answer is gone before it."""
    for call in range(4):
        diary.need(f"given{call}", 4 * MIB, BATCH)
        diary.need("inner", 20 * MIB, model_call(8))
        diary.need(f"cache{call}", (12 + call) * MIB, model_call(9))
        net.free(f"cache{call - 1}")
        if call < 3:
            diary.free("inner", f"given{call}")

    assert kinds_in(diary, tmp_path) == named(
        ("weights", "weight0 weight1"), ("activations", "cache3"), ("temporary", "inner given3")
    )


def test_compiled_backward_leaves_gradients(net: Net, diary: Diary, tmp_path: Path) -> None:
    """Its code has frames of a forward pass, on a thread that begins inside torch."""
    compiled: Frames = [("runtime.py", 5, "forward"), (TORCH + "_functorch/aot.py", 1900, "call")]
    net.forward(0)
    diary.need("flowing", 6 * MIB)
    diary.need("gradient0", 24 * MIB, compiled)
    net.free("flowing", "kept0", "kept1")
    diary.need("state0", 24 * MIB, optimizer_step())

    assert kinds_in(diary, tmp_path) == named(
        *(("weights", "weight0 weight1"), ("gradients", "gradient0")),
        *(("optimizer", "state0"), ("activations", "batch0")),
    )


def test_what_the_function_of_the_loop_made_before_it_is_weights(diary: Diary, tmp_path: Path) -> None:
    """It stands beside the call of the model, as batches do, but does not come again."""
    diary.need("table", 40 * MIB, at("train.py", 12, "train"))
    for step in range(2):
        diary.need(f"batch{step}", 4 * MIB, BATCH)
        diary.need("kept", 8 * MIB, model_call(8))
        diary.need("flowing", 4 * MIB)
        diary.free("kept", "flowing")
    diary.need("state", 40 * MIB, optimizer_step())

    kinds = kinds_in(diary, tmp_path)
    assert (kinds["table"], kinds["state"]) == ("weights", "optimizer")


def test_copies_of_the_weights_in_twice_the_precision_are_the_optimizers(diary: Diary, tmp_path: Path) -> None:
    masters = at("train.py", 12, "train")
    for layer, size in enumerate((10, 12, 14)):
        diary.need(f"weight{layer}", size * MIB, MAKES_WEIGHTS)
    for layer, size in enumerate((20, 24, 28)):
        diary.need(f"master{layer}", size * MIB, masters)
    diary.need("other", 9 * MIB, at("train.py", 13, "train"))
    diary.need("kept", 5 * MIB, model_call(8))

    kinds = kinds_in(diary, tmp_path)
    assert {name: kinds[name] for name in ("weight0", "master0", "master2", "kept")} == named(
        ("weights", "weight0"), ("optimizer", "master0 master2"), ("activations", "kept")
    )


def test_a_state_made_by_hand_is_the_optimizers(net: Net, diary: Diary, tmp_path: Path) -> None:
    """Made once, beside the optimizer's code, as large as the weights, and kept."""
    for step in range(2):
        net.forward(step)
        net.backward()
        if step == 0:
            diary.need("momentum0", 24 * MIB, UPDATE)
            diary.need("momentum1", 32 * MIB, UPDATE)
            diary.need("curve", 3 * MIB, [("train.py", 71, "update"), *UPDATE[1:]])
        diary.need("moment", 24 * MIB, [("train.py", 72, "update"), *UPDATE[1:]])
        net.free("moment", "gradient0", "gradient1")
    net.forward(2)

    kinds = kinds_in(diary, tmp_path)
    assert (kinds["momentum0"], kinds["momentum1"], kinds["kept0"]) == ("optimizer", "optimizer", "activations")
    assert kinds["curve"] != "optimizer"


def test_roles_decide_where_no_forward_pass_is_seen(diary: Diary, tmp_path: Path) -> None:
    gradient: Frames = [("accumulate_grad.cpp", 1, "torch::autograd::AccumulateGrad::apply")]
    clip: Frames = [(TORCH + "nn/utils/clip_grad.py", 70, "_get_total_norm"), *BATCH]
    made = {"w": MAKES_WEIGHTS, "o": optimizer_step(), "g": gradient, "t": clip, "u": BATCH, "n": None}
    for name, frames in made.items():
        diary.need(name, 24 * MIB, frames)

    assert kinds_in(diary, tmp_path) == named(
        ("weights", "w"), ("optimizer", "o"), ("gradients", "g"), ("temporary", "t"), ("unknown", "u n")
    )


def test_the_workspaces_of_a_matrix_library_are_temporary(net: Net, diary: Diary, tmp_path: Path) -> None:
    """One on the thread of the program and one on that of autograd, taken at the first product and kept."""
    diary.need("batch0", 4 * MIB, BATCH)
    diary.need("workspace0", 33_554_432, model_call(8))
    diary.need("kept0", 8 * MIB, model_call(8))
    diary.need("kept1", 8 * MIB, model_call(9))
    diary.need("workspace1", 33_554_432)
    net.backward()
    net.optimize(first=True)
    net.forward(1)

    kinds = kinds_in(diary, tmp_path)
    assert (kinds["workspace0"], kinds["workspace1"], kinds["kept0"]) == ("temporary", "temporary", "activations")


@each_shared_snapshot(lambda path: path.name == "torch2.5_megatron_vllm_private_pools_no_trace.pickle")
def test_a_cache_of_keys_and_values_without_a_trace_is_no_weight(path: Path) -> None:
    """Nothing tells there but the stacks: of a cache made once, that an engine made it."""
    (recording,) = open_recordings(str(path))
    case = open_case(recording, ExplainOptions())

    bytes_of = {kind: int(case.sizes[~case.is_free & (case.kinds == row)].sum()) for row, kind in enumerate(KINDS)}

    assert bytes_of["weights"] < 1 << 30
    assert bytes_of["unknown"] > 20 << 30
