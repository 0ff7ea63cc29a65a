"""Running programs on the pretend card, as a user does, and reading what came of it."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.schemas import validate

PROGRAMS = Path(__file__).parent / "programs"
_LIMIT_SECONDS = 300
Event = tuple[str, int, int, int]
"""Action, bytes, address, stream."""


@dataclass(frozen=True)
class Done:
    """A finished `gapless run --format json`."""

    status: int
    printed: str
    """By the program on both its streams, as the answer is alone on standard output."""
    report: dict[str, Any]
    folder: Path

    @property
    def process(self) -> dict[str, Any]:
        """The only process."""
        (process,) = self.report["processes"]
        return process

    @property
    def code(self) -> str:
        """The verdict on the only device of the only process."""
        (explanation,) = self.process["explanations"]
        return str(explanation["verdict"]["code"])

    def events(self, rank: int | None = None) -> list[Event]:
        """The recorded events of the only device; of a rank, where there are several."""
        path = self.folder / "run.pickle"
        recorded = pickle.loads((path if rank is None else path / f"rank{rank}.pickle").read_bytes())
        (trace,) = [trace for trace in recorded["device_traces"] if trace]
        return [(event["action"], event["size"], event["addr"], event["stream"]) for event in trace if "addr" in event]


def run(
    python: Path,
    folder: Path,
    program: str,
    *words: str,
    card: str = "80GiB",
    options: tuple[str, ...] = (),
    launcher: tuple[str, ...] = (),
) -> Done:
    """Run one of the programs beside this file, by a launcher or alone; what it prints comes back in `printed`."""
    command = [str(python), "-m", "gapless", "run", "--card", card, "--format", "json", *options]
    command += ["--save", str(folder / "run.pickle"), *launcher, str(PROGRAMS / program), *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False, env=environment(), cwd=folder
    )
    report = json.loads(done.stdout)
    validate(report)
    return Done(done.returncode, done.stderr, report, folder)


def tuned(python: Path, recording: Path, card: str) -> list[dict[str, Any]]:
    """What `gapless tune` says of each change."""
    command = [str(python), "-m", "gapless", "tune", str(recording), "--card", card, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=True)
    candidates: list[dict[str, Any]] = json.loads(done.stdout)["candidates"]
    return candidates


def environment() -> dict[str, str]:
    """Ours, without what would change a program."""
    unwanted = ("PYTORCH_", "CUDA_", "GAPLESS_CARD", "GAPLESS_RECORD", "GAPLESS_VIRTUAL")
    return {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}


def same_order_aside_from_frees(events: list[Event]) -> list[Event]:
    """Neighbouring frees in order of address: PyTorch frees some caches in the order of host addresses."""
    ordered: list[Event] = []
    frees: list[Event] = []
    for event in events:
        if event[0].startswith("free"):
            frees.append(event)
        else:
            ordered += [*sorted(frees), event]
            frees = []
    return ordered + sorted(frees)
