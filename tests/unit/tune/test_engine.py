"""Tune as a whole, and the few fixes beside an explanation."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.cards import find_card
from gapless.errors import InputError
from gapless.explain.case import open_case
from gapless.explain.options import ExplainOptions
from gapless.recording import open_recordings
from gapless.tune import Grade, Kind, Outcome, TuneOptions, best_fixes, tune
from gapless.tune.candidate import setting
from gapless.tune.candidates import propose_all
from gapless.tune.ranking import ranked
from gapless.tune.search import try_all
from gapless.tune.sizes import decisive_sizes
from gapless.units import MIB
from tests.programs import Program, user
from tests.recordings import each_shared_snapshot
from tests.unit.tune.made import case, pinned, training


def test_the_best_comes_first_and_its_setting_is_whole(tmp_path: Path) -> None:
    result = tune(pinned(tmp_path, conf="garbage_collection_threshold:0.8"))

    assert result.needs_change
    assert result.best is next(one for one in result.tried if one.fix.kind is Kind.SETTING)
    assert result.best.fix.conf is not None
    assert "garbage_collection_threshold" in result.best.fix.conf
    assert list(result.tried) == ranked(result.tried)


def test_every_sort_of_change_is_tried(tmp_path: Path) -> None:
    tried = tune(pinned(tmp_path)).tried

    families = {(one.fix.kind, one.candidate.family) for one in tried}
    assert families >= {
        (Kind.SETTING, "expandable_segments"),
        (Kind.SETTING, "max_split_size_mb"),
        (Kind.SETTING, "garbage_collection_threshold"),
        (Kind.CODE, ""),
        (Kind.CARD, ""),
    }


def test_a_fraction_that_leaves_room_and_still_survives(tmp_path: Path) -> None:
    """292 MiB are needed: a card of 400 can spare 100 MiB, not 120."""
    card = find_card("400MiB")

    enough = tune(training(tmp_path), TuneOptions(card=card, leave_free_bytes=100 * MIB))
    too_much = tune(training(tmp_path), TuneOptions(card=card, leave_free_bytes=120 * MIB))

    assert enough.best is not None
    assert (enough.best.outcome, enough.best.fix.grade) == (Outcome.SURVIVES, Grade.PROVED)
    assert not enough.needs_change
    fraction = setting(enough.case, {})
    assert fraction is not None
    assert fraction.conf == "per_process_memory_fraction:0.75"
    assert [one.outcome for one in try_all(enough.case, [fraction])] == [Outcome.SURVIVES]
    assert not any(one.fix.kind is Kind.SETTING and one.helps for one in too_much.tried)


def test_what_stays_free_is_free_whatever_is_changed(tmp_path: Path) -> None:
    """1155 MiB are live at one time. Of 1500, 1240 remain: also for changes to the code."""
    card = find_card("1500MiB")
    explained = open_case(pinned(tmp_path), ExplainOptions())
    options = TuneOptions(card=card, leave_free_bytes=260 * MIB)

    tried = tune(pinned(tmp_path), options).tried

    assert {one.fix.kind for one in tried} >= {Kind.CODE, Kind.SETTING}
    on_it = [one for one in tried if one.candidate.card is None]
    assert max(one.fix.reserved_bytes_peak_after for one in on_it) <= 1240 * MIB
    code = [one for one in on_it if one.fix.kind is Kind.CODE]
    assert {one.replay.options.capacity_bytes for one in code} == {1500 * MIB}
    assert {one.replay.options.limit_bytes for one in code} == {1500 * MIB * 826 // 1000}
    assert {one.fix.conf for one in code} == {"per_process_memory_fraction:0.826"}
    assert all(one.fix.change.endswith("; and set per_process_memory_fraction:0.826") for one in code)
    assert max(fix.reserved_bytes_peak_after for fix in best_fixes(explained, options)) <= 1240 * MIB


def test_the_lower_bound_counts_the_request_that_failed(tmp_path: Path) -> None:
    """50 MiB of weights and ten segments of 110; at the failure only 150 + 105 are live."""
    assert tune(pinned(tmp_path), TuneOptions(finds_cards=False)).case.lower_bound_bytes == 1150 * MIB


def test_retries_are_counted_by_step(tmp_path: Path) -> None:
    """Four passes of the optimizer bound three whole steps."""
    made = case(training(tmp_path))
    in_steps = try_all(made, propose_all(made, decisive_sizes(made)))
    without = tune(pinned(tmp_path), TuneOptions(finds_cards=False)).tried

    assert {one.fix.retries_per_step for one in in_steps} == {0.0, 1 / 3, 1.0}
    assert {one.fix.retries_per_step for one in without} == {None}


@each_shared_snapshot(where=lambda path: path.name.startswith("no_history"))
def test_without_events_nothing_can_be_tried(path: Path) -> None:
    recording = open_recordings(str(path))[0]

    with pytest.raises(InputError, match="holds no events"):
        tune(recording)
    assert best_fixes(open_case(recording, ExplainOptions())) == []


def test_a_moment_is_no_history(tmp_path: Path) -> None:
    """One event beside what is there at the end: what the run needed before is not known."""
    program = Program(capacity_bytes=4000 * MIB)
    program.alloc("weights", 1000 * MIB, at=user(1))
    program.alloc("before", 10 * MIB, at=user(2))
    program.free("before")
    program.record()
    program.alloc("more", 10 * MIB, at=user(2))

    with pytest.raises(InputError, match="holds a single event"):
        tune(program.open(tmp_path), TuneOptions(card=find_card("2GiB")))


def test_a_failure_alone_is_tuned(tmp_path: Path) -> None:
    program = Program(capacity_bytes=1500 * MIB)
    program.alloc("weights", 1000 * MIB, at=user(1))
    program.record()
    assert not program.alloc("more", 600 * MIB, at=user(2))

    assert tune(program.open(tmp_path)).tried


def test_where_memory_grows_what_lets_go_of_it_is_best(tmp_path: Path) -> None:
    best = tune(training(tmp_path, steps=40, leak=16 * MIB, capacity_bytes=800 * MIB)).best

    assert best is not None
    assert best.fix.kind is Kind.CODE


def test_an_explanation_shows_settings_and_code_that_help(tmp_path: Path) -> None:
    fixes = best_fixes(open_case(pinned(tmp_path), ExplainOptions()))

    assert sorted(fix.kind.value for fix in fixes) == ["code", "setting", "setting"]
    assert all(fix.outcome is Outcome.SERVES_REQUEST and fix.margin_bytes is not None for fix in fixes)
    assert "set expandable_segments:True" in {fix.change for fix in fixes}


def test_where_memory_grows_no_setting_is_shown_and_no_card(tmp_path: Path) -> None:
    fixes = best_fixes(
        open_case(training(tmp_path, steps=40, leak=16 * MIB, capacity_bytes=800 * MIB), ExplainOptions())
    )

    assert [fix.kind for fix in fixes] == [Kind.CODE]


@pytest.mark.parametrize("at", ["end", "peak", "event:3"])
def test_another_moment_of_a_run_that_failed_is_refused(at: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"a request failed in this recording, and --at {at} is another moment"):
        tune(pinned(tmp_path), TuneOptions(at=at))


def test_before_the_first_step_nothing_has_grown(tmp_path: Path) -> None:
    recording = training(tmp_path, steps=12, leak=20 * MIB)

    assert case(recording, at=f"event:{recording.event_count - 1}").growth != ()
    assert case(recording, at="event:1").growth == ()
