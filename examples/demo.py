"""`make demo`: explains a recorded out-of-memory failure and proves the fix by replay. Needs no GPU and no PyTorch.

It is also an example of Gapless from Python: open a recording, explain it, tune it, draw it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gapless.explain import explain
from gapless.explain.log.advice import RECORDING
from gapless.recording import open_recordings
from gapless.report.before_after import maps_before_and_after
from gapless.report.explanation import trust_to_text, verdict_to_text
from gapless.report.fixes import before_and_after
from gapless.report.terminal import Terminal
from gapless.tune import advised, tune

FILE = Path(__file__).resolve().parent / "demo_out_of_memory.pickle.gz"
ROWS = 8
SOME_STEPS = (
    'torch.cuda.memory._record_memory_history(max_entries=1_000_000, stacks="python")',
    "...  # a few steps",
    'torch.cuda.memory._dump_snapshot("snapshot.pickle")',
)


def main() -> int:
    """Prints the demo."""
    terminal = Terminal(sys.stdout)
    (recording,) = open_recordings(str(FILE))
    result = tune(recording)
    if result.best is None:
        raise AssertionError("a setting helps this recording")
    explanation = advised(explain(recording), [result.best.fix])

    terminal.paragraph(
        "A model was trained on batches of varying length (examples/demo_train.py) until PyTorch said CUDA out of"
        f" memory. Of that run there is one file, examples/{FILE.name}. From the file alone:",
        0,
    )
    terminal.line()
    verdict_to_text(explanation, terminal)
    before, after = maps_before_and_after(explanation, result, result.best, terminal, ROWS)
    show("Before: the card's memory when the request failed", before, terminal)
    show(f"After: the same moment with {result.best.fix.conf}", after, terminal)
    before_and_after(result.best.fix, terminal)
    trust_to_text(explanation, terminal)
    say_what_next(terminal)
    return 0


def show(title: str, lines: list[str], terminal: Terminal) -> None:
    """A drawing with its title."""
    terminal.line()
    terminal.line(terminal.paint(title, "bold"))
    for line in lines:
        terminal.line(f"  {line}")


def say_what_next(terminal: Terminal) -> None:
    """How to do the same with one's own run."""
    show("Now yours", [".venv/bin/gapless explain FILE"], terminal)
    terminal.line()
    terminal.paragraph("To record FILE, put this line before the model is built; running out of memory writes it:", 0)
    show_code((RECORDING,), terminal)
    terminal.paragraph("Or, to look at a run that does not fail, this around a few steps:", 0)
    show_code(SOME_STEPS, terminal)


def show_code(lines: tuple[str, ...], terminal: Terminal) -> None:
    """Lines to copy."""
    terminal.line()
    for line in lines:
        terminal.line(line)
    terminal.line()


if __name__ == "__main__":
    sys.exit(main())
