"""What is replayed where the card shrank or a limit is known only as a range: the numbers are of `tests.attacks`."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.cards import find_card
from gapless.recording import open_recordings
from gapless.tune import Grade, Kind, Outcome, TuneOptions, tune
from gapless.tune.case import Limit
from gapless.units import MIB
from tests.attacks import attack
from tests.recordings import ROOT

QUICK = TuneOptions(finds_cards=False)


def test_the_card_is_what_could_be_had_at_the_failure(tmp_path: Path) -> None:
    result = tune(attack("shrunk beside weights", tmp_path), QUICK)

    assert result.case.card.capacity_bytes == 1300 * MIB
    assert result.case.shrunk_bytes == 400 * MIB
    assert result.best is None or result.best.fix.kind is Kind.CARD


@pytest.mark.parametrize("name", ["neighbour_starts_during_training", "library_takes_more_and_more"])
def test_where_others_came_later_no_setting_is_recommended(name: str) -> None:
    path = ROOT / "tests" / "fixtures" / "verdicts" / f"out501_hit_{name}.pickle.gz"

    result = tune(open_recordings(str(path))[0], QUICK)

    assert not any(one.helps for one in result.tried if one.fix.kind is Kind.SETTING)
    assert {one.fix.grade for one in result.tried if one.outcome is Outcome.FAILS} == {Grade.GUESS}


def test_what_does_without_a_change_too_is_not_known(tmp_path: Path) -> None:
    """On the card named everything is served: the failure was of another card, so a change is no fix of it."""
    result = tune(attack("shrunk beside weights", tmp_path), TuneOptions(card=find_card("1700MiB"), finds_cards=False))

    assert not result.needs_change
    assert [one.fix.kind for one in result.tried] == [Kind.NONE]


def test_a_limit_is_replayed_at_both_ends_of_its_range(tmp_path: Path) -> None:
    """750 MiB beside a pinned segment of 700: with a limit of 1450 expandable segments do, with 700 they do not."""
    result = tune(attack("limited in pieces", tmp_path), QUICK)
    expandable = next(one for one in result.tried if one.fix.conf == "expandable_segments:True")

    assert result.case.limit == Limit(700 * MIB, 1450 * MIB - 1)
    assert [bool(one.failures) for one in expandable.replay.results] == [True, False]
    assert (expandable.outcome, expandable.fix.grade) == (Outcome.UNKNOWN, Grade.GUESS)


def test_what_helps_on_the_card_never_lacks_memory_there(tmp_path: Path) -> None:
    for name in ("lowered", "limited small", "limited in pieces"):
        margins = [one.fix.margin_bytes for one in tune(attack(name, tmp_path)).tried if one.helps]

        assert margins
        assert all(margin is None or margin >= 0 for margin in margins)
