"""Reruns that were measured: the same program under other settings or on another card, on the real allocator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.recordings import shared_snapshots


@dataclass(frozen=True)
class Rerun:
    """One rerun of the program behind a recording."""

    path: Path
    conf: str
    card: str
    completes: bool
    without_fraction: bool

    @property
    def name(self) -> str:
        """For the test's title."""
        return f"{self.path.name.partition('.')[0]}-{self.conf or 'default'}-{self.card}"


def shared_reruns() -> list[Rerun]:
    """Those of the shared recordings."""
    manifests = {path.parent / "MANIFEST.jsonl" for path in shared_snapshots()}
    return [
        rerun
        for manifest in sorted(manifests)
        for line in manifest.read_text(encoding="utf-8").splitlines()
        for rerun in _reruns(manifest.parent, json.loads(line))
    ]


def _reruns(folder: Path, entry: dict[str, Any]) -> Iterator[Rerun]:
    for rerun in entry.get("measured_reruns", []):
        yield Rerun(
            path=folder / entry["name"],
            conf=rerun["settings"],
            card=rerun["capacity"],
            completes=rerun["outcome"] == "completes",
            without_fraction=rerun.get("per_process_fraction") == "not set",
        )
