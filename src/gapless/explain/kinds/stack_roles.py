"""What kind of code allocated, told by a stack: the innermost frame that is decisive has the say.

A role is about the code, not yet about the memory: what an optimizer allocates may be its state or a temporary, and
what a forward pass allocates may be kept for backward or not. `kinds` decides that by lifetimes.
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from gapless.explain.frames import Origin, origin_of

if TYPE_CHECKING:
    from gapless.explain.finding import Stack


class Role(IntEnum):
    """What a stack was doing."""

    NONE = 0
    """No frame was recorded: threads of autograd, or recording without stacks."""
    OTHER = 1
    """Frames, but none that decides."""
    SETUP = 2
    """Makes, moves or loads parameters and buffers."""
    FORWARD = 3
    BACKWARD = 4
    OPTIMIZER = 5
    OPTIMIZER_STATE = 6
    """Code of an optimizer that makes its state and nothing else."""
    OPTIMIZER_LISTS = 7
    """Code of an optimizer that works on lists of all tensors at once."""
    GRADIENT = 8
    """Buffers that hold gradients: buckets, accumulation."""
    SCRATCH = 9
    """Work on gradients or parameters that keeps nothing: clipping, scaling, gathering."""
    CONSTRUCTION = 10
    """Makes an object of any class: a model, but as well the engine of a server."""


OF_OPTIMIZER = (Role.OPTIMIZER, Role.OPTIMIZER_STATE, Role.OPTIMIZER_LISTS)


def _is(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


# (path, function, role): the first row that fits a frame decides; no row: the frame does not decide.
_ANY = _is("")
_RULES: tuple[tuple[re.Pattern[str], re.Pattern[str], Role], ...] = (
    (_ANY, _is(r"(?i)kv_?caches?(?:_|$)"), Role.OTHER),  # the cache of a server, made once as weights are
    (_is(r"(?i)(?:kv_?cache|cache_engine)[^/]*$"), _ANY, Role.OTHER),
    (_is(r"accumulate_grad\.cpp$"), _ANY, Role.GRADIENT),
    (_is(r"engine\.cpp$|\.cpp$"), _is(r"autograd::(?:Engine|generated::\w+Backward|\w*Backward)"), Role.BACKWARD),
    (_is(r"(?:^|/)torch/optim/"), _is(r"^_init_group$|init_state|_init_\w*state"), Role.OPTIMIZER_STATE),
    (_is(r"(?:^|/)torch/optim/sgd\.py$"), _ANY, Role.OPTIMIZER_STATE),  # momentum, where it makes anything that stays
    (_is(r"(?:^|/)torch/optim/"), _is(r"_multi_tensor|_foreach"), Role.OPTIMIZER_LISTS),
    (_is(r"(?:^|/)torch/optim/"), _ANY, Role.OPTIMIZER),
    (_is(r"(?:^|/)torch/nn/utils/clip_grad|(?:^|/)torch/(?:cuda/)?amp/grad_scaler"), _ANY, Role.SCRATCH),
    (_is(r"(?:^|/)torch/.*fsdp.*collectives"), _is(r"reduce"), Role.GRADIENT),
    (_is(r"(?:^|/)torch/.*fsdp"), _is(r"all_gather|unshard"), Role.SCRATCH),
    (_is(r"(?:^|/)torch/.*(?:fsdp|fully_shard)"), _is(r"init|shard"), Role.SETUP),
    (_is(r"(?:^|/)torch/nn/parallel/distributed"), _is(r"_init_|reducer|bucket"), Role.GRADIENT),
    (_is(r"param_and_grad_buffer"), _is(r"grad"), Role.GRADIENT),
    (_is(r"(?:^|/)torch/nn/modules/module\.py$"), _is(r"^_apply$|^to_empty$|register_"), Role.SETUP),
    (_is(r"(?:^|/)torch/nn/(?:modules|attention|utils)/"), _is(r"^__init__$|^reset_parameters$"), Role.SETUP),
    (_is(r"(?:^|/)torch/(?:nn/init|nn/parameter|serialization)\.py$|safetensors"), _ANY, Role.SETUP),
    (
        _ANY,
        _is(r"^load_state_dict$|^_load_state_dict|^from_pretrained$|^create_weights$|^load_weights$|^load_model$"),
        Role.SETUP,
    ),
    (_is(r"(?:^|/)copy\.py$"), _is(r"deepcopy"), Role.SETUP),
    (_is(r"(?:^|/)torch/(?:autograd/(?:__init__|graph|function)|_tensor)\.py$"), _is(r"backward"), Role.BACKWARD),
    (_is(r"(?:^|/)torch/_functorch/|torchinductor|codegen\("), _is(r"[Bb]ackward"), Role.BACKWARD),
    (_is(r"codegen\(.*backward"), _ANY, Role.BACKWARD),
    (_ANY, _is(r"^forward$|^_call_impl$|^_wrapped_call_impl$"), Role.FORWARD),
    (_is(r"(?:^|/)torch/nn/(?:functional\.py|modules/(?!module\.py)|attention/)"), _ANY, Role.FORWARD),
    (_is(r"(?i)optim[^/]*(?:/[^/]*)?$"), _is(r"(?i)^_?(?:init|create|allocate)\w*state"), Role.OPTIMIZER_STATE),
    (_is(r"(?i)optim[^/]*(?:/[^/]*)?$"), _is(r"(?i)step$|^_?step|update|^__init__$"), Role.OPTIMIZER),
)


def role_of(stack: Stack) -> Role:
    """The role of a stack (innermost first).

    >>> role_of((("torch/optim/adam.py", 180, "_init_group"), ("torch/optim/adam.py", 230, "step"))).name
    'OPTIMIZER_STATE'
    >>> role_of((("torch/nn/modules/linear.py", 134, "forward"), ("train.py", 9, "main"))).name, role_of(()).name
    ('FORWARD', 'NONE')
    """
    makes = False
    for frame in stack:
        role = _decisive(frame[0], frame[2])
        if role is not None:
            return role
        makes = makes or (frame[2] == "__init__" and origin_of(frame[0]) is not Origin.NATIVE)
    if makes:
        return Role.CONSTRUCTION
    return Role.OTHER if any(origin_of(frame[0]) is not Origin.NATIVE for frame in stack) else Role.NONE


@lru_cache(maxsize=65_536)
def _decisive(file: str, function: str) -> Role | None:
    path = file.replace("\\", "/")
    for of_file, of_function, role in _RULES:
        if of_file.search(path) and of_function.search(function):
            return role
    return None
