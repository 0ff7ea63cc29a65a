"""The search for the smallest card."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

from gapless.cards import find_card
from gapless.conf import Release
from gapless.explain import explain
from gapless.recording import open_recordings
from gapless.tune import TuneOptions, tune
from gapless.tune.candidate import Candidate, of_conf, setting
from gapless.tune.case import Case, recorded_card
from gapless.tune.fix import Kind
from gapless.tune.larger_card import larger_card
from gapless.tune.search import measure_cards, try_all
from gapless.tune.smallest_card import PAGE_BYTES, SmallestCard, _above_stumbles, _boundary, smallest_card
from gapless.units import GIB, MIB, format_bytes
from tests.recordings import ROOT
from tests.unit.tune.made import case, pinned, training

VERDICTS = ROOT / "tests" / "fixtures" / "verdicts"
AS_IT_IS = Candidate(kind=Kind.SETTING, change="nothing")


def test_it_is_found_to_the_page(tmp_path: Path) -> None:
    """292 MiB of weights and activations, each in segments of their own; the optimizer reuses one."""
    made = case(training(tmp_path))

    assert smallest_card(made, AS_IT_IS) == SmallestCard(292 * MIB, PAGE_BYTES)


def test_fragmentation_makes_it_larger_and_its_cure_smaller(tmp_path: Path) -> None:
    """1155 MiB are live at one time; mapped by pages of 20 MiB that is 1160."""
    made = case(pinned(tmp_path))
    cure = of_conf(made, "expandable_segments:True", "")
    assert cure is not None

    assert smallest_card(made, AS_IT_IS) == SmallestCard(1256 * MIB, 4 * MIB)
    assert smallest_card(made, cure) == SmallestCard(1162 * MIB, 4 * MIB)


def test_what_stays_free_counts_for_every_change_alike(tmp_path: Path) -> None:
    """A fraction is counted in thousandths, and pages of 20 MiB may go beyond it."""
    made = case(pinned(tmp_path), leave_free=500 * MIB)
    cure = setting(made, {"expandable_segments": "True"})
    assert cure is not None
    assert cure.fraction is not None

    with_fraction = smallest_card(made, cure)

    assert smallest_card(made, AS_IT_IS) == SmallestCard(1756 * MIB, 4 * MIB)
    assert with_fraction is not None
    assert abs(with_fraction.bytes - 1662 * MIB) < 20 * MIB


def test_a_larger_card_has_room_for_others_too(tmp_path: Path) -> None:
    found = larger_card(case(pinned(tmp_path), leave_free=15000 * MIB, card=16000 * MIB))

    assert found is not None
    room = "PyTorch may reserve 1.24 GiB beside the 14.65 GiB that stay free"
    assert found[0].change == f"a card on which {room}, like the a10; and set per_process_memory_fraction:0.316"
    assert found[0].conf == "per_process_memory_fraction:0.316"
    assert found[1].bytes == 16270 * MIB  # 1256 and the rest of a thousandth


def test_on_a_card_still_to_be_chosen_no_fraction_is_named(tmp_path: Path) -> None:
    """No card that is known holds so much."""
    made = case(pinned(tmp_path, release=Release(2, 9)), leave_free=200_000 * MIB, card=201_000 * MIB)

    found = larger_card(made)

    assert found is not None
    assert found[0].change.endswith(" beside the 195.31 GiB that stay free; with a memory fraction there")
    assert (found[0].conf, found[0].call(Release(2, 9))) == (None, None)
    assert [one.helps for one in try_all(made, [found[0]])] == [True]


def test_a_margin_is_what_the_card_has_beyond_it(tmp_path: Path) -> None:
    made = case(pinned(tmp_path))
    cure = of_conf(made, "expandable_segments:True", "")
    assert cure is not None

    helps, fails = measure_cards(made, try_all(made, [AS_IT_IS, cure]))

    assert (helps.fix.margin_bytes, fails.fix.margin_bytes) == (88 * MIB, -6 * MIB)


def test_the_boundary_lies_within_a_grain() -> None:
    assert _boundary(lambda size: size >= 777 * MIB, 100 * MIB, 2000 * MIB, 2 * MIB) == 778 * MIB


def test_sizes_above_that_fail_move_it_up() -> None:
    """Holds from 100 MiB on, but not from 600 to 700: 700 is the first that lasts."""

    def fits(size: int) -> bool:
        return 100 * MIB <= size < 600 * MIB or size >= 700 * MIB

    assert _above_stumbles(fits, 300 * MIB, 1000 * MIB, PAGE_BYTES) == 700 * MIB


def test_a_larger_card_is_named_where_the_run_is_known_to_fit(tmp_path: Path) -> None:
    found = larger_card(case(pinned(tmp_path)))

    assert found is not None
    assert found[0].change == "a card on which PyTorch may reserve 1.23 GiB, like the t4"
    assert found[1].bytes == 1256 * MIB
    assert larger_card(case(training(tmp_path))) is None


def test_a_card_on_which_it_fails_is_not_large_enough(tmp_path: Path) -> None:
    """It holds from 1256 MiB on; where a card of 1400 MiB is known to fail, none smaller is named."""
    found = smallest_card(case(pinned(tmp_path)), AS_IT_IS, fails_at=1400 * MIB)

    assert found is not None
    assert found.bytes > 1400 * MIB


def test_a_card_has_room_for_the_state_that_the_optimizer_still_makes() -> None:
    """One number: that of the advice."""
    (recording,) = open_recordings(str(VERDICTS / "oom101_hit_optimizer_states_do_not_fit.pickle.gz"))
    explained = explain(recording)
    advised = re.search(r"at least ([\d.]+ [KMG]iB) for PyTorch", explained.verdict.what_to_do)

    found = larger_card(Case(explained.case, recorded_card(explained.case), card_is_recorded=True))

    assert advised is not None
    assert found is not None
    assert f"may reserve at least {advised[1]}: the optimizer has about" in found[0].change
    assert format_bytes(found[1].bytes) == advised[1]


def test_where_a_limit_refused_no_larger_card_is_called_for() -> None:
    (recording,) = open_recordings(str(VERDICTS / "oom103_hit_fraction_set_by_the_program.pickle.gz"))
    explained = explain(recording).case

    assert larger_card(Case(explained, recorded_card(explained), card_is_recorded=True)) is None


def test_a_program_that_reserves_nothing_needs_no_card(tmp_path: Path) -> None:
    """Somebody took snapshots, and that is all."""
    event = {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 1, "frames": []}
    path = tmp_path / "nothing.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [[event, event]]}))
    (recording,) = open_recordings(str(path))

    result = tune(recording, TuneOptions(card=find_card("24GiB"), leave_free_bytes=GIB))

    assert {one.smallest for one in result.tried} == {None}
