"""`gapless explain` from the shell: a run of 20,000 events that fails for want of a hole, whole processes in turns.

The peer is the least that anyone could do with the file in Python: start the interpreter and `pickle.load` it. Seconds
are of the processor (user and system), which a busy machine does not stretch; the least of several turns counts. What
is timed has its modules compiled, as after the first call of an installed program.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.result import Result
from gapless.units import GIB, KIB, MIB
from tests.programs import Frames, Program, in_model, in_optimizer, user

EVENTS = 20_000
PROGRAM = str(Path(sys.executable).with_name("gapless"))
TURNS = 7
CARD = 3 * GIB
LAYERS, TENSORS, KEPT = 24, 5, 8
THEIRS = "import pickle, sys\nwith open(sys.argv[1], 'rb') as file:\n    pickle.load(file)"


def training_run(events: int = EVENTS, *, seed: int = 0) -> Program:
    """A model trained on texts of varying length that keeps a little of each step; at last a request finds no hole."""
    rng = random.Random(seed)
    program = Program(capacity_bytes=CARD)
    for layer in range(LAYERS):
        for tensor in range(4):
            program.alloc(("weight", layer, tensor), 4 * MIB, at=_deep(user(100 + layer, "build")))
    step = 0
    while program.event_count < events:
        _step(program, step, rng)
        step += 1
    size = CARD // 4
    while program.alloc("logits", size, at=_deep(in_model(900))):
        program.free("logits")
        size += 16 * MIB
    return program


def _step(program: Program, step: int, rng: random.Random) -> None:
    """Forward, backward, optimizer; a table of each of the last steps stays."""
    length = rng.choice((128, 192, 256, 384, 512, 640, 768, 1024))
    made: list[object] = []
    for layer in range(LAYERS):
        for tensor in range(TENSORS):
            size = length * (8 + 4 * tensor) * KIB
            _need(program, ("activation", layer, tensor), size, _deep(in_model(10 * layer + tensor)))
            made.append(("activation", layer, tensor))
        if layer == step % LAYERS:
            _need(program, ("kept", step), 1536 * KIB, _deep(user(60)))
    if step >= KEPT:
        program.free(("kept", step - KEPT))
    for name in reversed(made):
        _need(program, "gradient", 4 * MIB, ())
        program.free(name, "gradient")
    if step == 0:
        for layer in range(LAYERS):
            _need(program, ("state", layer), 8 * MIB, _deep(in_optimizer()))


def _need(program: Program, name: object, size: int, at: Frames) -> None:
    if not program.alloc(name, size, at=at):
        raise AssertionError(f"{name} finds no room: the card of this benchmark is too small")


def _deep(frames: Frames) -> Frames:
    """A stack as deep as those of real programs."""
    outer = [(f"/opt/venv/lib/python3.11/site-packages/trainer/loop_{i}.py", 10 + i, "run") for i in range(20)]
    return (*frames, *outer)


def processor_seconds(command: list[str], path: Path) -> float:
    """User and system seconds of one whole process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([*command, str(path)], stdout=subprocess.DEVNULL, check=True, env=settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> list[Result]:
    """Ours, with fixes replayed and without, beside pickle.load."""
    sides = {
        "explain": [PROGRAM, "explain"],
        "no fixes": [PROGRAM, "explain", "--no-fixes"],
        "pickle.load": [sys.executable, "-c", THEIRS],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = training_run().write(Path(folder) / "snapshot.pickle")
        turns = [{side: processor_seconds(command, path) for side, command in sides.items()} for _ in range(TURNS + 1)]
    least = {side: min(turn[side] for turn in turns[1:]) for side in sides}
    return [
        Result(work=f"gapless explain, {EVENTS:,} events", unit="s", ours=least["explain"], target=0.5),
        Result(work="the same with --no-fixes", unit="s", ours=least["no fixes"], target=0.4),
        Result(
            work=f"gapless explain, {EVENTS:,} events",
            unit="s",
            ours=least["explain"],
            peer="python -c pickle.load",
            theirs=least["pickle.load"],
            target=0.1,
        ),
    ]
