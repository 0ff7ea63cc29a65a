"""Runs each job on a real card and on the pretend one, and prints how they differ.

    python -m tests.virtual.gpu.compare --card rtx4090 [--save FOLDER] [JOB ...]

Needs a GPU, and a Python in which both PyTorch and Gapless are installed. `--card` names the card that is there, as
`gapless cards` lists it. With `--save` the recordings stay, as FOLDER/real/JOB.pickle and FOLDER/pretend/JOB.pickle.
"""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from gapless.recording import Recording, open_recordings
from gapless.units import MIB

_HEAD = ("job", "events", "pretend", "same order", "reserved MiB", "pretend", "allocated MiB", "pretend")


@dataclass(frozen=True)
class Difference:
    """One job on both cards; sizes are peaks in bytes."""

    job: str
    events: tuple[int, int]
    """Of the real card, of the pretend one."""
    sequence: float
    """Part of all events, by action and size, that come in the same order; 1.0: all."""
    reserved: tuple[int, int]
    allocated: tuple[int, int]

    def cells(self) -> tuple[str, ...]:
        """Its row of the table."""
        real, pretend = self.events
        sizes = [f"{size / MIB:,.1f}" for pair in (self.reserved, self.allocated) for size in pair]
        return (self.job, f"{real:,}", f"{pretend:,}", f"{self.sequence:.4f}", *sizes)


def compare(job: str, real: Recording, pretend: Recording) -> Difference:
    """What differs between two recordings of one job."""
    both = [[*zip(one.events.action.tolist(), one.events.size.tolist(), strict=True)] for one in (real, pretend)]
    numbers: dict[tuple[int, int], int] = {}
    coded = [[numbers.setdefault(event, len(numbers)) for event in events] for events in both]
    ratio = 1.0 if coded[0] == coded[1] else difflib.SequenceMatcher(None, *coded, autojunk=False).ratio()
    reserved, allocated = (
        tuple(int(one.curves[name].max(initial=0)) for one in (real, pretend)) for name in ("reserved", "allocated")
    )
    return Difference(
        job,
        (len(both[0]), len(both[1])),
        ratio,
        (reserved[0], reserved[1]),
        (allocated[0], allocated[1]),
    )


def main(words: list[str]) -> int:
    """Print the table; 1 where any job differs by more than half a per cent, or in over 2 % of its events."""
    from tests.virtual.gpu.jobs import CONF, JOBS  # noqa: PLC0415  (imports PyTorch)

    parser = argparse.ArgumentParser(description="Compares a real card with the pretend one.")
    parser.add_argument("--card", required=True)
    parser.add_argument("--save", type=Path)
    parser.add_argument("jobs", nargs="*", choices=[[], *JOBS], default=[])
    args = parser.parse_args(words)
    print("  ".join(_HEAD))
    worst = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.save or Path(scratch)
        for kind in ("real", "pretend"):
            (folder / kind).mkdir(parents=True, exist_ok=True)
        for job in args.jobs or JOBS:
            paths = [folder / kind / f"{job}.pickle" for kind in ("real", "pretend")]
            run = [sys.executable, "-m", "tests.virtual.gpu.jobs", job]
            env = {**os.environ, "PYTORCH_CUDA_ALLOC_CONF": CONF.get(job, "")}
            subprocess.run([*run, str(paths[0])], env=env, check=True)
            pretend = [sys.executable, "-m", "gapless", "run", "--card", args.card, "--format", "json"]
            words_of_run = [*pretend, *run[1:], str(paths[1])]
            subprocess.run(words_of_run, env=env, check=True, stdout=subprocess.DEVNULL)
            found = compare(job, *(open_recordings(str(path))[0] for path in paths))
            print("  ".join(found.cells()), flush=True)
            worst |= found.sequence < 0.98 or any(
                abs(pretend - real) > 0.005 * real for real, pretend in (found.reserved, found.allocated)
            )
    return int(worst)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
