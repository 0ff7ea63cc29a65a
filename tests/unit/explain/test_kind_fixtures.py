"""Kinds, beside what the programs themselves knew of each block when the snapshot was taken, byte by byte."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from gapless.explain import ExplainOptions
from gapless.explain.case import Case, open_case
from gapless.explain.finding import KINDS
from gapless.recording import open_recordings

FOLDER = Path(__file__).parents[2] / "fixtures" / "kinds"
NAMES = sorted(row["name"] for row in json.loads((FOLDER / "manifest.json").read_text())["recordings"])
RIGHT_LEAST, UNKNOWN_MOST, WRONG_MOST = 0.90, 0.10, 0.02


def case_of(name: str) -> Case:
    """At the failure, or where the program took the snapshot."""
    (recording,) = open_recordings(str(FOLDER / f"{name}.pickle.gz"))
    return open_case(recording, ExplainOptions(at=None if len(recording.oom_events) else "end"))


@cache
def labelled_bytes(name: str) -> Counter[tuple[str, str]]:
    """Bytes in use by what they are for and what they are taken for."""
    truth = json.loads((FOLDER / f"{name}.truth.json").read_text())
    case = case_of(name)
    found: Counter[tuple[str, str]] = Counter()
    for address, size, kind, free in zip(
        case.state.blocks["address"].tolist(), case.sizes.tolist(), case.kinds.tolist(), case.is_free, strict=True
    ):
        if not free:
            found[truth[str(address)], KINDS[kind]] += size
    return found


def shares(found: Counter[tuple[str, str]]) -> tuple[float, float, float]:
    """Of the bytes: labelled right, unknown, labelled wrong."""
    total = found.total()
    right = sum(size for (true, said), size in found.items() if said == true)
    unknown = sum(size for (_, said), size in found.items() if said == "unknown")
    return right / total, unknown / total, (total - right - unknown) / total


@pytest.mark.parametrize("name", NAMES)
def test_nearly_all_bytes_are_labelled_as_the_program_knows_them(name: str) -> None:
    right, unknown, wrong = shares(labelled_bytes(name))

    assert right >= RIGHT_LEAST
    assert unknown < UNKNOWN_MOST
    assert wrong < WRONG_MOST


def test_so_it_is_over_all_recordings() -> None:
    right, unknown, wrong = shares(sum((labelled_bytes(name) for name in NAMES), Counter()))

    assert right >= RIGHT_LEAST
    assert unknown < UNKNOWN_MOST
    assert wrong < WRONG_MOST


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "unknown"])
def test_each_kind_is_mostly_found_and_mostly_meant(kind: str) -> None:
    found = sum((labelled_bytes(name) for name in NAMES), Counter[tuple[str, str]]())
    true = sum(size for (is_, _), size in found.items() if is_ == kind)
    said = sum(size for (_, said), size in found.items() if said == kind)

    assert true > 100 << 20
    assert found[kind, kind] >= RIGHT_LEAST * true
    assert found[kind, kind] >= RIGHT_LEAST * said
