"""What recording costs, on the pretend card without `gapless run`: python recorder_cost.py on|off DEPTH CARD LIBRARY...

Prints JSON: nanoseconds of an event with so many frames on the stack, microseconds of a step, bytes of the host for an
event, and where recording is on how long it takes to write one, and with how many bytes.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable

from gapless.recorder.files import Files
from gapless.recorder.options import Options
from gapless.recorder.recorder import Recorder
from gapless.recorder.snapshot import Pace, write_snapshot
from gapless.virtual import control

_EVENTS, _STEPS = 300_000, 3000
os.environ["GAPLESS_CARD"] = sys.argv[3]
control.load(tuple(sys.argv[4:]))
import torch  # noqa: E402  (the card comes first)


def resident_bytes() -> int:
    """Of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def at_depth(depth: int, function: Callable[[], float]) -> float:
    """The function, called with so many more frames on the stack."""
    return function() if depth == 0 else at_depth(depth - 1, function)


def event_ns() -> float:
    """Of one: an allocation and a free are three."""
    begin = time.perf_counter()
    for _ in range(_EVENTS // 3):
        torch.empty(1000, device="cuda")
    return (time.perf_counter() - begin) / _EVENTS * 1e9


def step_us() -> float:
    """Of an optimizer with one small parameter, beside 2000 tensors."""
    weight = torch.nn.Parameter(torch.zeros(1000, device="cuda"))
    weight.grad = torch.zeros(1000, device="cuda")
    optimizer = torch.optim.SGD([weight], lr=0.1)
    kept = [torch.empty(1000 * (1 + i % 97), device="cuda") for i in range(2000)]
    begin = time.perf_counter()
    for _ in range(_STEPS):
        optimizer.step()
    del kept
    return (time.perf_counter() - begin) / _STEPS * 1e6


def written(folder: str) -> dict[str, float]:
    """What a full history takes."""
    begin = time.perf_counter()
    done = write_snapshot(torch, Files(folder, "full"), _EVENTS, 600, Pace())
    seconds = time.perf_counter() - begin
    before = resident_bytes()
    snapshot = torch.cuda.memory._snapshot()
    taken = resident_bytes() - before
    return {
        "write_us": seconds / done.events * 1e6,
        "file_bytes": os.path.getsize(f"{folder}/full.pickle") / done.events,
        "more_bytes_when_written": taken / sum(map(len, snapshot["device_traces"])),
    }


def main() -> None:
    """Everything once."""
    folder, depth = tempfile.mkdtemp(), int(sys.argv[2])
    if sys.argv[1] == "on":
        Recorder(Options(folder)).begin()
    torch.empty(1000, device="cuda")
    answer = {"step_us": step_us()}
    before = resident_bytes()
    answer["event_ns"] = at_depth(depth, event_ns)
    answer["kept_bytes"] = (resident_bytes() - before) / _EVENTS
    if sys.argv[1] == "on":
        answer |= written(folder)
    print(json.dumps(answer), flush=True)
    os._exit(0)


main()
