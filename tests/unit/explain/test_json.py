"""The JSON of an explanation fits its schema, for every recording and for those made by hand."""

from __future__ import annotations

import json
from pathlib import Path

from gapless.explain import explain
from gapless.recording import open_recordings
from tests.recordings import each_shared_snapshot
from tests.schemas import validate
from tests.unit.explain.diary import GIB, MIB, Diary, at


@each_shared_snapshot()
def test_every_shared_recording_fits_the_schema(path: Path) -> None:
    for recording in open_recordings(str(path)):
        document = json.loads(json.dumps(explain(recording).to_json()))

        validate(document)


def test_failure_made_by_hand_fits_the_schema(tmp_path: Path) -> None:
    diary = Diary(capacity_bytes=1 * GIB)
    diary.malloc("a", 900 * MIB, at("train.py", 3))
    diary.malloc("b", 300 * MIB, at("train.py", 4))

    document = json.loads(json.dumps(explain(diary.open(tmp_path)).to_json()))

    validate(document)
    assert document["lower_bound_bytes"] == 1200 * MIB
    assert document["holders"] == [
        {
            "place": [{"file": "train.py", "line": 3, "function": "<module>"}],
            "at": {"file": "train.py", "line": 3, "function": "<module>"},
            "kind": "unknown",
            "bytes": 900 * MIB,
            "blocks": 1,
        }
    ]
