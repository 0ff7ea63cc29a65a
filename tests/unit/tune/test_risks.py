"""Risks that come with a change."""

from __future__ import annotations

from pathlib import Path

from gapless.recording import Recording, open_recordings
from gapless.tune import Kind, Risk, tune
from gapless.tune.candidate import of_conf
from gapless.tune.case import Case
from gapless.tune.search import try_all, with_risks
from gapless.units import MIB
from tests.programs import Program, user
from tests.recordings import ROOT
from tests.unit.tune.made import case, pinned

VERDICTS = ROOT / "tests" / "fixtures" / "verdicts"


def risks(made: Case, conf: str) -> dict[str, str]:
    candidate = of_conf(made, conf, "")
    assert candidate is not None
    (one,) = try_all(made, [candidate])
    return {risk.name: risk.message for risk in with_risks(made, one).fix.risks}


def test_expandable_segments_name_what_they_break(tmp_path: Path) -> None:
    found = risks(case(pinned(tmp_path)), "expandable_segments:True")

    assert list(found) == ["expandable-breaks-ipc", "expandable-breaks-registration"]


def test_what_fails_has_no_risks(tmp_path: Path) -> None:
    assert risks(case(pinned(tmp_path)), "max_split_size_mb:500") == {}


def cut_and_freed(folder: Path) -> Recording:
    """A large segment is cut in two, its first part freed; the next request needs memory that only it could give."""
    program = Program(capacity_bytes=100 * MIB)
    program.alloc("a", 60 * MIB, at=user(1))
    program.free("a")
    program.alloc("b", 41 * MIB, at=user(2))
    program.alloc("c", 10 * MIB, at=user(3))
    program.free("b")
    assert not program.alloc("d", 50 * MIB, at=user(4))
    return program.open(folder)


def test_a_switch_that_would_free_live_memory_in_this_recording_is_found(tmp_path: Path) -> None:
    found = risks(case(cut_and_freed(tmp_path)), "max_split_size_mb:40")

    assert found["switch-frees-live-memory"] == (
        "set it before the start: switched on before event 6 of this recording, PyTorch would give back a segment in"
        " which tensors live"
    )


def test_a_limit_set_by_the_change_says_so(tmp_path: Path) -> None:
    conf = "expandable_segments:True,per_process_memory_fraction:0.95"

    assert risks(case(pinned(tmp_path)), conf)["memory-limit"].startswith("PyTorch may reserve 95 % of the card")


def test_rounding_that_wastes_memory_is_measured(tmp_path: Path) -> None:
    """Ten blocks of 110 MiB take 112 MiB each when rounded to eighths: 20 MiB in all, and the limit is 64 MiB."""
    program = Program(capacity_bytes=4000 * MIB)
    for k in range(10):
        program.alloc(k, 130 * MIB, at=user(1))
    made = case(program.open(tmp_path), card=4000 * MIB)

    found = risks(made, "roundup_power2_divisions:4")

    assert found == {"rounding-waste": "300.00 MiB of the peak is lost inside blocks, 300.00 MiB more than before"}


def test_a_run_that_ends_at_its_failure_with_more_than_ever_says_so(tmp_path: Path) -> None:
    program = Program(capacity_bytes=200 * MIB)
    program.alloc("a", 150 * MIB, at=user(1))
    program.alloc("b", 100 * MIB, at=user(2))
    made = case(program.open(tmp_path), card=400 * MIB)

    found = risks(made, "")

    assert found == {
        "recording-ends-here": "the failing request has 100.00 MiB more in use than ever before, and the recording"
        " holds no whole step after it: what the run needs next (in training: backward and optimizer) is not known"
    }


def code_risks(recording: Recording) -> dict[str, set[str]]:
    """By change of the program."""
    return {
        one.fix.change[:16]: {risk.name for risk in one.fix.risks}
        for one in tune(recording).tried
        if one.fix.kind is Kind.CODE and one.helps
    }


def test_a_change_of_a_first_step_that_was_cut_off_is_not_known_to_be_enough() -> None:
    """Batch and checkpoints serve the request of a forward pass; what the backward pass takes was never recorded."""
    (recording,) = open_recordings(str(VERDICTS / "oom101_hit_batch_too_large.pickle.gz"))

    found = code_risks(recording)

    assert found
    assert all(names == {"recording-ends-here"} for names in found.values())


def test_a_change_after_whole_steps_has_their_shape() -> None:
    """Without what grows, the step that failed takes no more than those that were over before it."""
    (recording,) = open_recordings(str(VERDICTS / "grow301_hit_losses_kept_with_their_graphs.pickle.gz"))

    assert code_risks(recording) == {"let go after eac": set()}


def test_a_risk_is_a_name_and_a_sentence() -> None:
    assert Risk("a", "b") == Risk(name="a", message="b")
