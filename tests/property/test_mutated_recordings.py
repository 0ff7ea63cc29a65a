"""Recordings with a few things changed at random: a command answers, or refuses in one message, and never breaks."""

from __future__ import annotations

import copy
import gzip
import pickle
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from gapless.cli.main import main
from tests.integration.small import snapshot
from tests.recordings import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Plain = dict[str, Any]
VERDICTS = ROOT / "tests" / "fixtures" / "verdicts"
FIXTURES = (
    *("frag202_hit_gathered_weights", "frag203_hit_pool_of_a_loader", "grow301_hit_predictions_kept_for_a_metric"),
    *("oom104_hit_second_try_is_served", "peak401_hit_one_matrix_of_all_distances", "rec702_hit_ring_of_four_hundred"),
)
ROUNDS = 12
"""Mutations of each recording; more were run by hand."""
ACTIONS = (
    *("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap"),
    *("oom", "snapshot"),
)
NUMBERS = (0, 1, 511, 512, 513, (1 << 20) - 512, 1 << 20, 20 << 20, 1 << 30, 1 << 40, (1 << 47) - 512)
NATIVE = {"filename": "??", "line": 0, "name": "torch::x"}
STACKS: tuple[list[Plain], ...] = ([], [NATIVE] * 50, [{"filename": "x" * 3000, "line": 2**31 - 1, "name": ""}])
COMMANDS = (
    "explain",
    "explain --at end",
    "explain --at event:3 --format json --redact",
    "explain --card 24GiB --leave-free 2GiB --format markdown",
    "tune --device 0",
    "tune --device 0 --card 24GiB --leave-free 1GiB",
    "replay --at oom",
    "replay --conf expandable_segments:True --card 24GiB --at peak",
)


@cache
def recording(name: str) -> Plain:
    """A recording to start from."""
    if name == "small":
        return snapshot()
    found: Plain = pickle.loads(gzip.decompress((VERDICTS / f"{name}.pickle.gz").read_bytes()))
    return found


def change_action(rng: random.Random, event: Plain) -> None:
    """Another action, with the keys that it has."""
    number = event.pop("addr", None) or event.pop("device_free", None) or 0
    event["action"] = rng.choice(ACTIONS)
    event["device_free" if event["action"] == "oom" else "addr"] = number


def change_number(rng: random.Random, event: Plain) -> None:
    """Another size, address, stream or time."""
    key = rng.choice([key for key in ("size", "addr", "device_free", "stream", "time_us") if key in event])
    event[key] = rng.choice((*NUMBERS, event[key] + 512))


def change_rest(rng: random.Random, event: Plain) -> None:
    """Another stack, another pool."""
    event["frames"] = rng.choice(STACKS)
    if "pool_id" in event:
        event["pool_id"] = rng.choice(((0, 0), (0, 1), (5, 9)))


def change_trace(rng: random.Random, trace: list[Plain]) -> None:
    """Events are lost or come twice."""
    at = rng.randrange(len(trace))
    cut = rng.choice(("one", "twice", "front", "back"))
    if cut == "twice":
        trace.insert(rng.randrange(len(trace)), copy.deepcopy(trace[at]))
    else:
        del trace[{"one": slice(at, at + 1), "front": slice(0, at), "back": slice(at, None)}[cut]]


def change_state(rng: random.Random, segments: list[Plain]) -> None:
    """A segment or a block is lost, or is another."""
    segment = rng.choice(segments)
    block = rng.choice(segment["blocks"])
    rng.choice(
        (
            lambda: segments.remove(segment),
            lambda: segment["blocks"].remove(block),
            lambda: segment.update(total_size=rng.choice(NUMBERS)),
            lambda: block.update(size=rng.choice(NUMBERS)),
            lambda: block.update(state=rng.choice(("inactive", "active_allocated", "active_pending_free"))),
        )
    )()


EVENTS: tuple[Callable[[random.Random, Plain], None], ...] = (change_action, change_number, change_rest)


def mutated(rng: random.Random, value: Plain) -> Plain:
    """A copy with one change, or several."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2, 3, 8, 30))):
        (trace,) = value["device_traces"]
        if trace and rng.random() < 0.6:
            rng.choice(EVENTS)(rng, rng.choice(trace))
        elif trace and rng.random() < 0.6:
            change_trace(rng, trace)
        elif value["segments"] and all(segment["blocks"] for segment in value["segments"]):
            change_state(rng, value["segments"])
    return value


@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize("name", ["small", *FIXTURES])
def test_every_command_answers_or_refuses(
    name: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(f"{name} {seed}")
    path = tmp_path / "mutated.pickle"
    path.write_bytes(pickle.dumps(mutated(rng, recording(name)), protocol=4))
    command, *options = rng.choice(COMMANDS).split()

    status = main([command, str(path), *options])

    out, err = capsys.readouterr()
    assert "mistake in Gapless" not in err
    if status == 2:
        assert err.startswith("gapless: ")
        assert len(err.splitlines()) <= 2
    else:
        assert (status, bool(out)) == (0, True)
