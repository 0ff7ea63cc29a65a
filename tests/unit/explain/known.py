"""A program of two layers whose kinds are known by name, for diaries."""

from __future__ import annotations

from pathlib import Path

from gapless.explain import ExplainOptions
from gapless.explain.case import Case, open_case
from gapless.explain.finding import KINDS
from tests.unit.explain.diary import MIB, Diary, at, model_call, optimizer_step
from tests.unit.explain.programs import MAKES_WEIGHTS

BATCH = at("train.py", 19, "train")
FOREACH = optimizer_step(function="_multi_tensor_adam")


class Net:
    """Two layers of 24 and 32 MiB, trained step by step; what a step makes is named with a word and its number."""

    def __init__(self, diary: Diary) -> None:
        self.diary = diary
        for layer, size in enumerate((24, 32)):
            diary.need(f"weight{layer}", size * MIB, MAKES_WEIGHTS)

    def forward(self, step: int, batch: int = 4) -> None:
        """A batch, which the next replaces, and of each layer what stays and what does not, from one line."""
        self.diary.need(f"batch{step}", batch * MIB, BATCH)
        self.free(f"batch{step - 1}")
        for layer in range(2):
            self.diary.need(f"kept{layer}", 2 * batch * MIB, model_call(8 + layer))
            self.diary.need("passing", 3 * batch * MIB, model_call(8 + layer))
            self.free("passing")

    def backward(self) -> None:
        """On a thread without frames, the last layer first: a temporary, the gradient, and the activation goes."""
        for layer in (1, 0):
            self.diary.need("flowing", 6 * MIB)
            self.diary.need(f"gradient{layer}", (24, 32)[layer] * MIB)
            self.free(f"kept{layer}", "flowing")

    def optimize(self, *, first: bool) -> None:
        """A state for each weight, made once; temporaries of all at once; gradients go."""
        for layer in range(2):
            if first:
                self.diary.need(f"state{layer}", (24, 32)[layer] * MIB, optimizer_step())
        for layer in range(2):
            self.diary.need(f"list{layer}", (24, 32)[layer] * MIB, FOREACH)
        self.free("list0", "list1", "gradient0", "gradient1")

    def train(self, steps: int) -> None:
        for step in range(steps):
            self.forward(step)
            self.backward()
            self.optimize(first=step == 0)

    def free(self, *names: str) -> None:
        self.diary.free(*(name for name in names if name in self.diary.blocks))


def case_of(diary: Diary, folder: Path, moment: str | None = "end") -> Case:
    """What is explained; no moment: the failure."""
    return open_case(diary.open(folder), ExplainOptions(at=moment))


def kinds_in(diary: Diary, folder: Path, moment: str | None = "end") -> dict[str, str]:
    """Of each name that is in use at the moment."""
    case = case_of(diary, folder, moment)
    found = dict(zip(case.state.blocks["address"].tolist(), case.kinds.tolist(), strict=True))
    return {name: KINDS[found[diary.addresses[name]]] for name in diary.blocks}


def named(*kinds: tuple[str, str]) -> dict[str, str]:
    return {name: kind for kind, names in kinds for name in names.split()}
