"""The verdict of every recording whose right label is known."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from gapless.explain import explain
from gapless.recording import open_recordings
from tests.recordings import each_shared_snapshot

CODES = {
    "none": {"OK000"},
    "capacity": {"OOM101"},
    "request_larger_than_card": {"OOM102"},
    "fraction_limit": {"OOM103"},
    "external_fragmentation": {"FRAG201", "FRAG202", "FRAG203"},
    "leak": {"GROW301"},
}


@lru_cache(maxsize=4)
def manifest(folder: Path) -> dict[str, Any]:
    """Rows of a folder's manifest, by file name."""
    rows = (json.loads(line) for line in (folder / "MANIFEST.jsonl").read_text().splitlines())
    return {Path(row.get("name") or row.get("file")).name: row for row in rows}


@each_shared_snapshot()
def test_verdict_is_the_label(path: Path) -> None:
    label = manifest(path.parent).get(path.name, {}).get("verdict", {}).get("label", "none")

    codes = {explain(recording).verdict.code for recording in open_recordings(str(path))}

    assert codes <= CODES[label]
    assert codes
