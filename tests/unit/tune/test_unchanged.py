"""Where the run as it was does on the card, that is said, and what gains nothing is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.cards import Card, find_card
from gapless.conf import Release
from gapless.explain.case import open_case
from gapless.explain.options import ExplainOptions
from gapless.recording import open_recordings
from gapless.tune import Kind, Outcome, TuneOptions, best_fixes, tune
from gapless.tune.candidate import setting
from gapless.tune.unchanged import unchanged
from gapless.units import MIB
from tests.programs import Program, user
from tests.recordings import each_shared_snapshot
from tests.unit.tune.made import case, pinned, training


def test_what_fits_needs_no_change(tmp_path: Path) -> None:
    """292 MiB of 292; no setting needs less."""
    result = tune(training(tmp_path))

    assert not result.needs_change
    assert result.best is result.tried[0]
    assert (result.best.fix.kind, result.best.fix.conf, result.best.fix.outcome) == (Kind.NONE, None, Outcome.SURVIVES)
    assert result.best.fix.margin_bytes == 0
    assert not any(one.fix.kind is Kind.SETTING for one in result.tried)


def test_on_a_larger_card_changes_stay_that_need_less(tmp_path: Path) -> None:
    """As it was 1256 MiB are needed; expandable segments need 1162, a limit for splitting less than as it was, too."""
    recording, card = pinned(tmp_path), find_card("1400MiB")

    result = tune(recording, TuneOptions(card=card))
    fixes = best_fixes(open_case(recording, ExplainOptions()), TuneOptions(card=card))

    assert result.tried[0].fix.kind is Kind.NONE
    assert result.tried[0].fix.margin_bytes == 144 * MIB
    assert len(result.tried) > 1
    assert all((one.fix.margin_bytes or 0) > 144 * MIB for one in result.tried[1:])
    assert fixes[0].kind is Kind.NONE
    assert {fix.change for fix in fixes[1:]} >= {"set expandable_segments:True"}


def test_without_margins_nothing_is_known_to_be_gained(tmp_path: Path) -> None:
    result = tune(pinned(tmp_path), TuneOptions(card=find_card("1400MiB"), finds_cards=False))

    assert [one.fix.kind for one in result.tried] == [Kind.NONE]


@pytest.mark.parametrize(
    ("card", "leave_free", "stands"), [(1250, 0, False), (1256, 0, True), (1400, 144, True), (1400, 146, False)]
)
def test_it_has_to_fit_beside_what_stays_free(tmp_path: Path, card: int, leave_free: int, *, stands: bool) -> None:
    made = case(pinned(tmp_path), card=card * MIB, leave_free=leave_free * MIB)

    assert (unchanged(made) is not None) == stands


def test_a_cache_that_would_take_what_stays_free_needs_a_limit(tmp_path: Path) -> None:
    """450 MiB are reserved; 448 would do, but only if a refusal made PyTorch give 200 back."""
    program = Program(capacity_bytes=600 * MIB)
    program.alloc("first", 200 * MIB, at=user(1))
    program.free("first")
    program.alloc("second", 250 * MIB, at=user(2))
    recording = program.open(tmp_path)

    assert unchanged(case(recording, card=600 * MIB, leave_free=150 * MIB)) is not None
    assert unchanged(case(recording, card=448 * MIB)) is not None
    assert unchanged(case(recording, card=600 * MIB, leave_free=152 * MIB)) is None


def test_what_grows_needs_a_change_on_every_card(tmp_path: Path) -> None:
    leaking = training(tmp_path, steps=40, leak=16 * MIB, capacity_bytes=800 * MIB)

    assert tune(leaking, TuneOptions(card=find_card("80GiB"), finds_cards=False)).needs_change


@each_shared_snapshot(where=lambda path: path.name.startswith("frag_pinned_segments_oom"))
def test_of_equal_margins_the_smaller_peak_comes_first(path: Path) -> None:
    result = tune(open_recordings(str(path))[0])

    assert result.best is not None
    assert result.best.fix.conf == "expandable_segments:True"


def test_the_fraction_is_a_line_of_its_own_where_no_setting_takes_it(tmp_path: Path) -> None:
    options = TuneOptions(card=find_card("1400MiB"), leave_free_bytes=200 * MIB)
    old = tune(pinned(tmp_path, release=Release(2, 9)), options).best

    assert old is not None
    assert old.fix.conf == "max_split_size_mb:102"
    assert old.fix.call == "torch.cuda.set_per_process_memory_fraction(0.857)"


def test_a_fraction_alone_is_no_line_of_settings(tmp_path: Path) -> None:
    made = case(pinned(tmp_path, release=Release(2, 9)), leave_free=100 * MIB)

    alone = setting(made, {})

    assert alone is not None
    assert (alone.conf, alone.call(Release(2, 9))) == (None, "torch.cuda.set_per_process_memory_fraction(0.92)")


def test_a_late_start_has_one_baseline_on_every_card_that_holds_it(tmp_path: Path) -> None:
    """Fragments from before the recording, which nobody can allocate anew in the same order."""
    program = Program(capacity_bytes=1 << 40)
    for k in range(150):
        program.alloc(("large", k), 11 * MIB, at=user(3))
    program.free(*(("large", k) for k in range(0, 150, 2)))
    program.record()
    for name in ("more", "and more"):
        program.alloc(name, 5 * MIB, at=user(4))
    recording = program.open(tmp_path)

    as_recorded = tune(recording)
    larger = tune(recording, TuneOptions(card=Card("larger", 1 << 40, 1 << 40)))
    (first, *_), (second, *_) = as_recorded.tried, larger.tried

    assert first.fix.kind is second.fix.kind is Kind.NONE
    assert first.fix.reserved_bytes_peak_before == second.fix.reserved_bytes_peak_before
    assert first.fix.device_calls_before == second.fix.device_calls_before == first.fix.device_calls_after
    assert first.fix.risks == second.fix.risks == ()
