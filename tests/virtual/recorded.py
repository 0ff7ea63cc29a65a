"""Programs that the recorder watches on the pretend card, and what it leaves of them."""

from __future__ import annotations

import json
import pickle
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.schemas import validate
from tests.virtual.runs import PROGRAMS, environment

_LIMIT_SECONDS = 300


@dataclass(frozen=True)
class Recorded:
    """What is in the folder of a recorded run."""

    status: int
    printed: str
    """On stderr, by the program and the recorder."""
    report: str
    """Of `gapless run`, as JSON."""
    folder: Path

    @property
    def code(self) -> str:
        """The verdict of `gapless run` on the only process."""
        ((explanation,),) = (process["explanations"] for process in json.loads(self.report)["processes"])
        return str(explanation["verdict"]["code"])

    @property
    def capsule(self) -> dict[str, Any]:
        """The only capsule."""
        (path,) = self.folder.glob("*.capsule.json")
        capsule = dict(json.loads(path.read_text()))
        validate(capsule)
        return capsule

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows of the only process."""
        (path,) = self.folder.glob("*.steps.jsonl")
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows:
            validate(row, "gapless.steps/1")
        return rows

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The rows of its steps."""
        return [row for row in self.rows if row["row"] == "step"]

    def actions(self) -> list[str]:
        """Of the events in the only snapshot."""
        (path,) = self.folder.glob("*.pickle")
        (trace,) = [trace for trace in pickle.loads(path.read_bytes())["device_traces"] if trace]
        return [event["action"] for event in trace]


def record(python: Path, folder: Path, program: str, *words: str, card: str = "2GiB", **variables: str) -> Recorded:
    """Run one of the programs with GAPLESS_RECORD; the variables belong to its environment."""
    out = folder / "recording"
    return run_and_look(python, out, str(PROGRAMS / program), *words, card=card, GAPLESS_RECORD=str(out), **variables)


def run_and_look(python: Path, out: Path, *words: str, card: str = "2GiB", **variables: str) -> Recorded:
    """Run a command on the pretend card and look into a folder beside which it runs."""
    command = [str(python), "-m", "gapless", "run", "--card", card, "--format", "json", *words]
    env = {**environment(), **variables}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=False, env=env, cwd=out.parent
    )
    return Recorded(done.returncode, done.stderr, done.stdout, out)


def explain(python: Path, folder: Path) -> dict[str, Any]:
    """What `gapless explain FOLDER` says."""
    command = [str(python), "-m", "gapless", "explain", str(folder), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_SECONDS, check=True)
    return dict(json.loads(done.stdout))
