"""Weights from before the recording are told by where they lie, on whatever addresses the card gave to segments."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gapless.explain import ExplainOptions
from gapless.explain.case import open_case
from gapless.explain.finding import KINDS
from gapless.explain.kinds.weights_before import weights_before
from gapless.recording import open_recordings
from tests.fixtures.test_manifests import HERE
from tests.recordings import content_of, load_plainly

PLAIN, CONVERTED = "transformer_recorded_late", "late_texts_in_parts_of_batches"
FURTHER = 1 << 46
WRONG_MOST = 0.02


def turned(name: str) -> dict[str, Any]:
    """A recording as if the card gave its addresses from the highest to the lowest."""
    snapshot: dict[str, Any] = load_plainly(content_of(HERE / "kinds" / f"{name}.pickle.gz"))
    events = [event for trace in snapshot["device_traces"] for event in trace]
    sizes = {s["address"]: s["total_size"] for s in snapshot["segments"]}
    sizes |= {e["addr"]: e["size"] for e in events if e["action"] in ("segment_alloc", "segment_free")}
    begins = sorted(sizes)

    def moved(address: int) -> int:
        begin = begins[np.searchsorted(begins, address, side="right") - 1]
        return FURTHER - begin - sizes[begin] + (address - begin)

    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            block["address"] = moved(block["address"])
        segment["address"] = moved(segment["address"])
    for event in events:
        if event["action"] not in ("oom", "snapshot"):
            event["addr"] = moved(event["addr"])
    snapshot["segments"].sort(key=lambda segment: segment["address"])
    snapshot["moved"] = {str(moved(int(address))): kind for address, kind in truth_of(name).items()}
    return snapshot


def truth_of(name: str) -> dict[str, str]:
    truth: dict[str, str] = json.loads((HERE / "kinds" / f"{name}.truth.json").read_text())
    return truth


@pytest.mark.parametrize("name", [PLAIN, CONVERTED])
def test_addresses_of_segments_do_not_matter(name: str, tmp_path: Path) -> None:
    snapshot = turned(name)
    truth = snapshot.pop("moved")
    path = tmp_path / "turned.pickle.gz"
    path.write_bytes(gzip.compress(pickle.dumps(snapshot, protocol=4), 1))

    (recording,) = open_recordings(str(path))
    case = open_case(recording, ExplainOptions(at=None if len(recording.oom_events) else "end"))
    used = ~case.is_free
    said = [KINDS[kind] for kind in case.kinds[used].tolist()]
    true = [truth[str(address)] for address in case.state.blocks["address"][used].tolist()]
    wrong = sum(size for size, a, b in zip(case.sizes[used].tolist(), said, true, strict=True) if a != b)

    assert wrong < WRONG_MOST * case.sizes[used].sum()


def before(name: str) -> tuple[Any, Any, Any]:
    """Lives, the allocations that stood before and stay, and the gradients of weights."""
    (recording,) = open_recordings(str(HERE / "kinds" / f"{name}.pickle.gz"))
    case = open_case(recording, ExplainOptions(at="end"))
    rows = np.flatnonzero((case.lives.born < 0) & (case.lives.died >= recording.event_count))
    return case.lives, rows, case.gradients.sizes


@pytest.mark.parametrize("name", [PLAIN, CONVERTED])
def test_weights_are_found_where_making_them_again_puts_them(name: str) -> None:
    lives, rows, gradients = before(name)

    found = weights_before(lives, rows, gradients)

    addresses = lives.stacks.recording.trace.allocations.address[rows]
    true = np.array([truth_of(name)[str(address)] == "weights" for address in addresses])
    sizes = lives.requested[rows]
    assert sizes[found & true].sum() >= 0.95 * gradients.sum()
    assert sizes[found & ~true].sum() <= 0.05 * gradients.sum()


def test_nothing_is_said_where_the_model_would_lie_otherwise() -> None:
    lives, rows, gradients = before(CONVERTED)

    assert not weights_before(lives, rows, gradients[: len(gradients) // 2 + 1][::-1]).any()
    assert not weights_before(lives, rows, gradients[:0]).any()
