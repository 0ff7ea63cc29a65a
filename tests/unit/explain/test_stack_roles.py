"""Roles: what kind of code a stack is, told by its innermost decisive frame."""

from __future__ import annotations

import pytest

from gapless.explain.finding import Stack
from gapless.explain.kinds.stack_roles import Role, role_of

TORCH = "/venv/lib/python3.11/site-packages/torch/"
MAIN = ("train.py", 41, "main")
CALL = (TORCH + "nn/modules/module.py", 1783, "_wrapped_call_impl")


@pytest.mark.parametrize(
    ("role", "stack"),
    [
        (Role.NONE, ()),
        (Role.NONE, (("??", 0, "clone"), ("CUDACachingAllocator.cpp", 0, "malloc"))),
        (Role.OTHER, (MAIN,)),
        (Role.OTHER, (("data.py", 3, "collate"), MAIN)),
        (Role.SETUP, ((TORCH + "nn/modules/linear.py", 109, "__init__"), ("model.py", 3, "__init__"), MAIN)),
        (Role.SETUP, ((TORCH + "nn/modules/module.py", 930, "_apply"), MAIN)),
        (Role.SETUP, ((TORCH + "serialization.py", 1400, "load"), MAIN)),
        (Role.SETUP, (("/usr/lib/python3.11/copy.py", 146, "deepcopy"), MAIN)),
        (Role.CONSTRUCTION, (("model.py", 12, "rotary"), ("model.py", 8, "__init__"), MAIN)),
        (Role.OTHER, (("vllm/worker/cache_engine.py", 68, "_allocate_kv_cache"), ("worker.py", 8, "__init__"), MAIN)),
        (Role.OTHER, (("server/kv_cache.py", 9, "allocate"), (TORCH + "nn/modules/module.py", 930, "_apply"))),
        (Role.FORWARD, ((TORCH + "nn/modules/linear.py", 134, "forward"), CALL, MAIN)),
        (Role.FORWARD, (("model.py", 20, "attend"), ("model.py", 30, "forward"), CALL, MAIN)),
        (Role.FORWARD, ((TORCH + "nn/functional.py", 3500, "cross_entropy"), MAIN)),
        (
            Role.BACKWARD,
            ((TORCH + "autograd/__init__.py", 355, "backward"), (TORCH + "_tensor.py", 600, "backward"), MAIN),
        ),
        (Role.BACKWARD, (("engine.cpp", 1100, "torch::autograd::Engine::evaluate_function"),)),
        (Role.BACKWARD, (("Functions.cpp", 9, "torch::autograd::generated::MmBackward0::apply"),)),
        (Role.GRADIENT, (("accumulate_grad.cpp", 30, "torch::autograd::AccumulateGrad::apply"),)),
        (
            Role.OPTIMIZER_STATE,
            ((TORCH + "optim/adam.py", 180, "_init_group"), (TORCH + "optim/adam.py", 230, "step"), MAIN),
        ),
        (Role.OPTIMIZER_STATE, ((TORCH + "optim/sgd.py", 340, "_single_tensor_sgd"), MAIN)),
        (Role.OPTIMIZER_LISTS, ((TORCH + "optim/adamw.py", 500, "_multi_tensor_adamw"), MAIN)),
        (Role.OPTIMIZER, ((TORCH + "optim/adam.py", 400, "_single_tensor_adam"), MAIN)),
        (Role.OPTIMIZER, (("lion_optim.py", 9, "step"), MAIN)),
        (Role.OPTIMIZER_STATE, (("my_optimizer/lion.py", 9, "init_state"), MAIN)),
        (Role.SCRATCH, ((TORCH + "nn/utils/clip_grad.py", 70, "_get_total_norm"), MAIN)),
        (Role.SCRATCH, ((TORCH + "amp/grad_scaler.py", 160, "_lazy_init"), MAIN)),
        (Role.SCRATCH, ((TORCH + "distributed/fsdp/_fully_shard/_fsdp_param.py", 9, "all_gather_inputs"), MAIN)),
        (Role.GRADIENT, ((TORCH + "distributed/fsdp/_fully_shard/_fsdp_collectives.py", 9, "foreach_reduce"), MAIN)),
    ],
)
def test_the_innermost_decisive_frame_has_the_say(role: Role, stack: Stack) -> None:
    assert role_of(stack) is role


def test_paths_of_windows_are_read_alike() -> None:
    stack = ((r"C:\env\Lib\site-packages\torch\optim\adam.py", 180, "_init_group"), (r"D:\me\train.py", 4, "main"))

    assert role_of(stack) is Role.OPTIMIZER_STATE


def test_what_is_inside_decides_before_what_calls_it() -> None:
    """An optimizer's hook that runs a model is a forward pass; a model that makes a layer anew is setup."""
    inside_optimizer = (
        (TORCH + "nn/modules/linear.py", 134, "forward"),
        (TORCH + "optim/optimizer.py", 484, "wrapper"),
    )
    inside_model = ((TORCH + "nn/modules/linear.py", 109, "__init__"), ("model.py", 5, "forward"), CALL)

    assert role_of(inside_optimizer) is Role.FORWARD
    assert role_of(inside_model) is Role.SETUP
