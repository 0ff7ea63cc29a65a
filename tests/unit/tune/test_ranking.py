"""The order of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gapless.tune import Grade, tune
from gapless.tune.fix import Fix
from gapless.tune.ranking import ranked
from gapless.tune.smallest_card import SmallestCard
from gapless.tune.tried import Tried
from gapless.units import GIB, MIB
from tests.unit.tune.made import pinned

CARD = 24 * GIB


@pytest.fixture
def plain(tmp_path: Path) -> Tried:
    """One option, proved."""
    return next(one for one in tune(pinned(tmp_path)).tried if one.candidate.changes == {"expandable_segments": "True"})


def like(one: Tried, margin: int, **changes: object) -> Tried:
    """With another margin on the same card."""
    fix: Fix = replace(one.fix, margin_bytes=margin, **changes)  # type: ignore[arg-type]
    return replace(one, fix=fix, smallest=SmallestCard(CARD - margin, 2 * MIB))


def with_more_options(one: Tried, margin: int) -> Tried:
    changed = {**one.candidate.changes, "garbage_collection_threshold": "0.6"}
    return like(replace(one, candidate=replace(one.candidate, changes=changed, fraction=0.982)), margin)


def test_a_few_pages_are_not_worth_more_options(plain: Tried) -> None:
    simple, fitted = like(plain, 5 * GIB), with_more_options(plain, 5 * GIB + 255 * MIB)

    assert ranked([fitted, simple]) == [simple, fitted]


def test_more_than_that_is(plain: Tried) -> None:
    simple, fitted = like(plain, 5 * GIB), with_more_options(plain, 5 * GIB + 256 * MIB)

    assert ranked([simple, fitted]) == [fitted, simple]


def test_of_equal_margins_and_options_the_surer_comes_first(plain: Tried) -> None:
    sure, modelled = like(plain, 5 * GIB), like(plain, 5 * GIB + MIB, grade=Grade.MODELLED)

    assert ranked([modelled, sure]) == [sure, modelled]


def test_a_retry_in_many_steps_is_not_worth_more_options(plain: Tried) -> None:
    simple, fitted = like(plain, 5 * GIB, retries_per_step=1 / 15), with_more_options(plain, 5 * GIB)

    assert ranked([fitted, simple]) == [simple, fitted]


def test_where_steps_are_not_known_retries_count_that_the_run_had_not(plain: Tried) -> None:
    once = replace(like(plain, 5 * GIB, retries_per_step=None), retries_beyond=1)
    never = like(plain, 5 * GIB, retries_per_step=None, reserved_bytes_peak_after=CARD)
    fitted = with_more_options(once, 5 * GIB)

    assert ranked([once, never]) == [never, once]
    assert ranked([fitted, once]) == [once, fitted]


def test_a_band_begins_at_its_best(plain: Tried) -> None:
    """Each is within 200 MiB of the next, but the last is not as good as the first."""
    best, middle = with_more_options(plain, 5 * GIB), with_more_options(plain, 5 * GIB - 200 * MIB)
    last = like(plain, 5 * GIB - 400 * MIB)

    assert ranked([last, middle, best]) == [best, middle, last]
