"""The verdict of every recording made on a virtual card for it: three hits and three near misses of each code.

What is not right yet stands in NOT_YET with its reason; a recording that becomes right must leave the list.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gapless.explain import Explanation, explain
from gapless.recording import open_recordings

FOLDER = Path(__file__).parents[2] / "fixtures" / "verdicts"
NOT_YET = {
    "grow301_hit_hidden_states_collected": "growth is found, and holes are taken for the cause",
    "grow301_hit_predictions_kept_for_a_metric": "growth is found where nothing failed, and the verdict is OK000",
    "grow301_near_miss_batches_grow_and_nothing_stays": "larger batches are taken for growth",
    "oom101_near_miss_others_hold_half_of_the_card": "the card's size is not in the file",
    "oom103_near_miss_card_refuses_before_the_limit": "the card's size is not in the file",
    "out501_hit_card_shared_from_the_start": "the card's size is not in the file",
    "out501_hit_library_takes_more_and_more": "what others took is found, and holes are taken for the cause",
    "out501_hit_neighbour_starts_during_training": "what others took is found, and holes are taken for the cause",
    "out501_near_miss_too_large_with_or_without_the_neighbour": "the request alone is taken for too large",
    "out501_near_miss_usual_context": "rounding is taken for the cause",
    "out502_hit_cache_of_expandable_segments": "that a library failed is not in the file",
    "out502_hit_communicator_after_large_pictures": "that a library failed is not in the file",
    "out502_hit_handle_for_another_thread": "that a library failed is not in the file",
}
NOT_EXACT = {
    "frag203_near_miss_pool_closed_in_time": "a MemPool is destroyed in between, which no event tells",
    "oom103_hit_fraction_with_garbage_collection": "the memory fraction is not in the file",
}


def each(why_not: dict[str, str]) -> list[Any]:
    rows = json.loads((FOLDER / "manifest.json").read_text())["recordings"]
    return [
        pytest.param(
            row, id=row["name"], marks=pytest.mark.xfail(reason=why_not[row["name"]]) if row["name"] in why_not else ()
        )
        for row in rows
        if row["expected"]["verdict"] or row["name"] in why_not
    ]


def explanations(row: dict[str, Any]) -> list[Explanation]:
    return [explain(recording) for recording in open_recordings(str(FOLDER / row["file"]))]


@pytest.mark.parametrize("row", each(NOT_YET))
def test_verdict_is_the_expected_one(row: dict[str, Any]) -> None:
    assert row["expected"]["verdict"] in {one.verdict.code for one in explanations(row)}


@pytest.mark.parametrize("row", each(NOT_EXACT))
def test_recording_replays_exactly(row: dict[str, Any]) -> None:
    checks = [one.check for one in open_recordings(str(FOLDER / row["file"]))]

    assert all(check is None or check.exact for check in checks)
