"""REC791 not-pytorch: the failure in a log is of something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="REC791",
    name="not-pytorch",
    severity="error",
    finds="The out-of-memory message in a log is not PyTorch's for CUDA or ROCm: it is of another device (XPU, NPU,"
    " MPS), another framework (TensorFlow, JAX, RMM, llama.cpp) or of a server's own checks.",
    why="Such messages count other things under the same words; reading them as PyTorch's would give wrong answers.",
    measured="The words of the message. What it seems to come from is named.",
    do="If PyTorch failed as well, give the log of the process that died. Otherwise ask where the message comes from.",
)


def find(case: Case) -> Iterator[Finding]:
    """Nothing: a recording is always PyTorch's."""
    yield from ()
