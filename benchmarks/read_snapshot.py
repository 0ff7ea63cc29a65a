"""Opens a recording of 1,000,000 events: seconds and memory, beside `pickle.load`.

Each side runs in a process of its own, in turns; the best time of each counts. Memory is the growth of the process's
highest resident size (VmHWM: ru_maxrss would begin with that of the process that started it) over what it had before
it opened the file.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.made_snapshot import write_snapshot
from benchmarks.result import Result

EVENTS = 1_000_000
TURNS = 3
OURS = "from gapless.sources import open_snapshot as load"
THEIRS = "import pickle\ndef load(path):\n    with open(path, 'rb') as file:\n        return pickle.load(file)"
WITHOUT_COLLECTOR = "import gc\ngc.disable()\n" + THEIRS
MEASURED = r"""
import json, re, sys, time
highest = lambda: int(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]) / 1024
before = highest()
begin = time.perf_counter()
loaded = load(sys.argv[1])
print(json.dumps([time.perf_counter() - begin, highest() - before]))
"""


def measure(code: str, path: Path) -> tuple[float, float]:
    """Seconds and MiB that a fresh process takes to open the file."""
    command = [sys.executable, "-c", code + MEASURED, str(path)]
    seconds, mebibytes = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return seconds, mebibytes


def main() -> list[Result]:
    """Ours beside pickle.load, with its collector as it is by default and without."""
    sides = {"ours": OURS, "pickle.load": THEIRS, "pickle.load, gc off": WITHOUT_COLLECTOR}
    figures: dict[str, list[tuple[float, float]]] = {side: [] for side in sides}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "snapshot.pickle"
        write_snapshot(path, EVENTS)
        work = f"open {EVENTS:,} events, {path.stat().st_size / 1e6:.0f} MB"
        path.read_bytes()  # into the page cache
        for _ in range(TURNS):
            for side, code in sides.items():
                figures[side].append(measure(code, path))
    seconds = {side: min(time for time, _ in found) for side, found in figures.items()}
    memory = {side: min(space for _, space in found) for side, found in figures.items()}

    def beside(peer: str, figure: dict[str, float], unit: str, target: float) -> Result:
        return Result(work=work, unit=unit, ours=figure["ours"], peer=peer, theirs=figure[peer], target=target)

    return [
        beside("pickle.load", seconds, "s", 5),
        beside("pickle.load, gc off", seconds, "s", 3),
        beside("pickle.load", memory, "MiB", 2),
    ]
