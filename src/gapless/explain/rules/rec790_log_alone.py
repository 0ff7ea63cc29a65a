"""REC790 log-alone: a log shows that memory ran out, and not why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.explain.rule import Rule

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding

RULE = Rule(
    code="REC790",
    name="log-alone",
    severity="error",
    finds="A log shows that PyTorch or a library beside it ran out of memory, and its numbers do not decide why: the"
    " message is cut, the card reports more free memory than was asked for, or nothing is said about PyTorch's cache.",
    why="A message holds sums, rounded to two decimals. Where they allow several causes, naming one would be a guess,"
    " and the wrong cure costs a day.",
    measured="The bounds that the printed decimals leave for each number are added up as intervals. A cause is named"
    " only where it holds at every rounding, or is called likely where it holds for the printed values.",
    do="Record a snapshot at the failure: torch.cuda.memory._record_memory_history() before the model is built, and"
    " torch.cuda.memory._dump_snapshot in an out-of-memory observer. gapless explain prints the lines.",
    links=("https://docs.pytorch.org/docs/stable/torch_cuda_memory.html",),
)


def find(case: Case) -> Iterator[Finding]:
    """Nothing: a recording has what a log lacks."""
    yield from ()
