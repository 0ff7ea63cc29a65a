"""What the recorder costs, on the pretend card: python -m tests.virtual.measure_recorder [RELEASE ...]

Each figure is the least of three runs; with and without the recorder take turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.virtual.environments import IN_MAKE_TEST, python_of
from tests.virtual.runs import PROGRAMS, environment

_TURNS = ("off", "on")
_ASK = """
import json
from gapless.cards import find_card
from gapless.virtual.cards import virtual_card
from gapless.virtual.installation import find_torch
torch = find_torch()
print(json.dumps([virtual_card(find_card("80GiB")).settings_text(torch), *map(str, torch.libraries)]))
"""


def measured(python: Path, turn: str, depth: int, card: list[str]) -> dict[str, float]:
    """One run."""
    command = [str(python), str(PROGRAMS / "recorder_cost.py"), turn, str(depth), *card]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main(releases: list[str]) -> int:
    """Print what it costs with each release."""
    for release in releases or IN_MAKE_TEST:
        python = python_of(release)
        asked = subprocess.run([str(python), "-c", _ASK], capture_output=True, text=True, check=True)
        for depth in (1, 30):
            print(f"PyTorch {release}, {depth} frames of Python on the stack", flush=True)
            runs = [
                (turn, measured(python, turn, depth, json.loads(asked.stdout))) for _ in range(3) for turn in _TURNS
            ]
            for name in runs[1][1]:
                least = {turn: min(run.get(name, 0) for its, run in runs if its == turn) for turn in _TURNS}
                print(f"  {name:24} {least['off']:8.1f} without, {least['on']:8.1f} with")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
