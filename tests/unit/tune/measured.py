"""Reruns that were measured: the same program under other settings or on another card, on the real allocator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapless.cards import Card, find_card
from tests.recordings import ROOT, shared_snapshots


@dataclass(frozen=True)
class Rerun:
    """One rerun of the program behind a recording."""

    path: Path
    conf: str
    card: Card
    completes: bool
    without_fraction: bool = False

    @property
    def name(self) -> str:
        """For the test's title."""
        return f"{self.path.name.partition('.')[0]}-{self.conf or 'default'}-{self.card.name}"


def shared_reruns() -> list[Rerun]:
    """Those of the shared recordings."""
    manifests = {path.parent / "MANIFEST.jsonl" for path in shared_snapshots()}
    return [
        rerun
        for manifest in sorted(manifests)
        for line in manifest.read_text(encoding="utf-8").splitlines()
        for rerun in _of_shared(manifest.parent, json.loads(line))
    ]


def fixture_reruns(folder: Path = ROOT / "tests" / "fixtures") -> list[Rerun]:
    """Those of the fixtures."""
    return [
        rerun
        for manifest in sorted(folder.glob("*/manifest.json"))
        for entry in json.loads(manifest.read_text(encoding="utf-8")).get("recordings", ())
        for rerun in _of_fixture(manifest.parent, entry)
    ]


def _of_shared(folder: Path, entry: dict[str, Any]) -> Iterator[Rerun]:
    for rerun in entry.get("measured_reruns", []):
        yield Rerun(
            path=folder / entry["name"],
            conf=rerun["settings"],
            card=find_card(rerun["capacity"]),
            completes=rerun["outcome"] == "completes",
            without_fraction=rerun.get("per_process_fraction") == "not set",
        )


def _of_fixture(folder: Path, entry: dict[str, Any]) -> Iterator[Rerun]:
    for rerun in entry.get("measured_reruns", []):
        card, context = rerun["card"]["card_bytes"], rerun["card"]["context_bytes"]
        yield Rerun(
            path=(folder / entry["file"]).resolve(),
            conf=rerun["card"]["conf"],
            card=Card(f"{card >> 20}MiB", card - context, card),
            completes=rerun["outcome"] == "survives",
        )
