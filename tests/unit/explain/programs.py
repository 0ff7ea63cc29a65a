"""Programs for diaries: training loops as PyTorch records them, with what a test wants to change."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.explain.diary import MIB, Diary, FailedError, at, model_call, optimizer_step

WEIGHT_BYTES = 40 * MIB
LAYERS = 4
MAKES_WEIGHTS = [
    ("site-packages/torch/nn/modules/linear.py", 109, "__init__"),
    ("model.py", 3, "__init__"),
    ("train.py", 10, "<module>"),
]


def build(diary: Diary, weights: int = LAYERS) -> None:
    """Makes the weights."""
    for layer in range(weights):
        diary.malloc(f"weight{layer}", WEIGHT_BYTES, MAKES_WEIGHTS)


def forward(diary: Diary, activation_bytes: int, layers: int = LAYERS) -> None:
    """Input and one activation a layer."""
    diary.need("input", 4 * MIB, at("train.py", 19, "train"))
    for layer in range(layers):
        diary.need(f"activation{layer}", activation_bytes, model_call(8))


def backward(diary: Diary, layers: int = LAYERS) -> None:
    """One gradient a layer, on a thread without frames; activations go."""
    for layer in reversed(range(layers)):
        diary.need(f"gradient{layer}", WEIGHT_BYTES)
        diary.free(f"activation{layer}")


def optimize(diary: Diary, *, first: bool, layers: int = LAYERS) -> None:
    """Two moments a layer in the first step, a temporary in every step; gradients and input go."""
    for layer in range(layers):
        if first:
            diary.need(f"mean{layer}", WEIGHT_BYTES, optimizer_step())
            diary.need(f"variance{layer}", WEIGHT_BYTES, optimizer_step())
        diary.need("temporary", WEIGHT_BYTES, optimizer_step(function="_single_tensor_adam"))
        diary.free("temporary")
    diary.free(*(f"gradient{layer}" for layer in range(layers)), "input")


def train(diary: Diary, activations: Sequence[int], keep_bytes: int = 0) -> bool:
    """One step for each size of activations; each step keeps so many bytes. False when a request failed."""
    try:
        for activation_bytes in activations:
            forward(diary, activation_bytes)
            if keep_bytes:
                diary.need(f"kept{len(diary.blocks)}", keep_bytes, at("train.py", 21, "train"))
            backward(diary)
            optimize(diary, first="mean0" not in diary.blocks)
    except FailedError:
        return False
    return True
