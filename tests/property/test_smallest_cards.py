"""Smallest cards and the lower bound, held against replays of every small recording that the project keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.cards import find_card
from gapless.explain import explain
from gapless.recording import open_recordings
from gapless.replaying import replay
from gapless.tune import Grade, TuneOptions, TuneResult, tune
from gapless.tune.grading import SERVING, outcome_of
from gapless.tune.tried import Tried
from tests.recordings import ROOT

CARD = find_card("24GiB")
RECORDINGS = sorted([*(ROOT / "tests/fixtures/verdicts").glob("*.gz"), *(ROOT / "examples").glob("*.gz")])


def serves_at(result: TuneResult, one: Tried, size: int) -> bool:
    """Whether the change has its outcome on a card of that size."""
    return outcome_of(result.case, replay(result.case.recording, one.candidate.options(result.case, size))) in SERVING


def complaints(result: TuneResult, one: Tried) -> list[str]:
    """What is wrong with the smallest card of a change."""
    assert one.smallest is not None
    size, less = one.smallest.bytes, one.smallest.bytes - one.smallest.grain_bytes
    bound = result.case.lower_bound_bytes
    found = [] if serves_at(result, one, size) else [f"does not serve at {size}"]
    found += [f"serves at {less} too"] if less >= bound and serves_at(result, one, less) else []
    return found + ([f"{size} is below the bound {bound}"] if size < bound else [])


@pytest.mark.parametrize("path", RECORDINGS, ids=[path.name.partition(".")[0] for path in RECORDINGS])
def test_a_smallest_card_serves_and_a_step_less_does_not(path: Path) -> None:
    for recording in open_recordings(str(path)):
        if recording.event_count < 2 and not len(recording.oom_events):
            continue  # no history, and refused
        shows_no_card = recording.settings.per_process_memory_fraction < 1 and not len(recording.oom_events)
        result = tune(recording, TuneOptions(card=CARD) if shows_no_card else None)
        proved = [one for one in result.tried if one.helps and one.smallest and one.fix.grade is Grade.PROVED]

        assert [f"{one.fix.change}: {words}" for one in proved for words in complaints(result, one)] == []
        assert explain(recording).lower_bound_bytes == result.case.lower_bound_bytes


def test_there_is_something_to_hold_against_replays() -> None:
    (recording,) = open_recordings(str(ROOT / "tests/fixtures/verdicts/frag202_hit_gathered_weights.pickle.gz"))
    result = tune(recording)
    assert result.best is not None
    assert result.best.smallest is not None

    assert len([one for one in result.tried if one.smallest]) > 20
    assert result.case.lower_bound_bytes <= result.best.smallest.bytes
    assert result.best.fix.margin_bytes is not None
    assert result.best.fix.margin_bytes > 512 << 20  # it was lent to another stream, and comes back
