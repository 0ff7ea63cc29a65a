"""What `gapless tune` says in words: what may help and what does, how far to trust it, and which row is meant."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from gapless.cards import find_card
from gapless.recording import Recording, open_recordings
from gapless.report.terminal import Terminal
from gapless.report.tune import to_text
from gapless.tune import TuneOptions, TuneResult, tune
from gapless.units import MIB, parse_bytes
from tests.programs import Program, user
from tests.recordings import ROOT
from tests.unit.tune.made import pinned

VERDICTS = ROOT / "tests" / "fixtures" / "verdicts"


def of_fixture(name: str) -> Recording:
    (recording,) = open_recordings(str(VERDICTS / f"{name}.pickle.gz"))
    return recording


def lines_of(result: TuneResult, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", "110")
    stream = io.StringIO()
    to_text(result, Terminal(stream))
    return stream.getvalue().splitlines()


def head_of(recording: Recording, monkeypatch: pytest.MonkeyPatch, options: TuneOptions | None = None) -> str:
    """What stands before the table, as one line."""
    lines = lines_of(tune(recording, options), monkeypatch)
    return " ".join(lines[: lines.index("")])


def test_where_memory_grows_a_larger_card_is_no_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    head = head_of(of_fixture("grow301_hit_losses_kept_with_their_graphs"), monkeypatch)

    assert "emory grows with every step" in head
    assert "a larger card or other settings only delay the failure. What helps: let go after each step what" in head


def test_where_memory_is_full_the_change_of_the_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    head = head_of(of_fixture("oom101_hit_batch_too_large"), monkeypatch)

    assert "only a smaller job or a larger card can be relied on." in head
    assert "What may help, as what comes after it is not known: three quarters of the batch" in head


def test_a_setting_that_serves_a_request_beyond_all_before_may_help(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """880 MiB are the most that was in use; with the request that failed they are 910 of 1000."""
    program = Program(capacity_bytes=1000 * MIB)
    for k in range(11):
        program.alloc(("whole", k), 80 * MIB, at=user(1))
    program.free(*(("whole", k) for k in range(11)))
    for k in range(11):
        program.alloc(("large", k), 70 * MIB, at=user(1))
        program.alloc(("small", k), 10 * MIB, at=user(2))
    program.free(*(("large", k) for k in range(3)))
    assert not program.alloc("more", 240 * MIB, at=user(3))

    head = head_of(program.open(tmp_path), monkeypatch)

    assert head.startswith("What may help, as what comes after it is not known: export PYTORCH_CUDA_ALLOC_CONF=")


def test_a_proved_setting_is_to_copy_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert head_of(pinned(tmp_path), monkeypatch).startswith("export PYTORCH_CUDA_ALLOC_CONF=")


@pytest.mark.parametrize(
    ("name", "doubt"),
    [
        ("rec704_hit_ring_made_larger", "events cannot have happened as recorded (REC704)."),
        ("rec705_hit_rounding_switched_on_between_steps", "recorded decisions."),
    ],
)
def test_a_recording_that_is_not_repeated_says_so_before_all_else(
    monkeypatch: pytest.MonkeyPatch, name: str, doubt: str
) -> None:
    lines = lines_of(tune(of_fixture(name)), monkeypatch)

    assert lines[0].startswith("All that follows is a guess: ")
    assert doubt in " ".join(lines[:2])
    assert any(line.startswith("Replay: ") for line in lines)


def test_how_much_is_repeated_stands_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = of_fixture("frag202_hit_gathered_weights")
    lines = lines_of(tune(recording), monkeypatch)

    assert recording.check is not None
    count = f"{recording.check.events_checked:,}"
    assert lines[-1].startswith(f"Replay: {count} of {count} recorded decisions are reproduced exactly")
    assert not any("guess" in line for line in lines)


def test_late_memory_on_a_smaller_card_is_said_to_be_imagined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """1160 MiB were reserved before the recording; 250 of it are in use, and fit on 700 MiB if asked for anew."""
    program = Program(capacity_bytes=4000 * MIB)
    for k in range(10):
        program.alloc(("whole", k), 115 * MIB, at=user(1))
    program.free(*(("whole", k) for k in range(10)))
    for k in range(10):
        program.alloc(("small", k), 25 * MIB, at=user(2))
        program.alloc(("large", k), 90 * MIB, at=user(3))
    program.free(*(("large", k) for k in range(10)))
    program.record()
    program.alloc("more", 10 * MIB, at=user(4))
    program.free("more")
    recording = program.open(tmp_path)
    small, large = (TuneOptions(card=find_card(size)) for size in ("700MiB", "2GiB"))

    imagined = "if the memory from before the recording (1.13 GiB reserved) is allocated anew."
    assert head_of(recording, monkeypatch, small).endswith(imagined)
    assert head_of(recording, monkeypatch, large).endswith("with the settings as they are.")


def test_rows_are_in_the_order_that_they_show_and_one_has_the_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    result = tune(of_fixture("frag202_hit_gathered_weights"))
    lines = lines_of(result, monkeypatch)
    rows = [line for line in lines if " serves the request " in line and " a card " not in line]
    sizes = [parse_bytes("".join(line.removeprefix(">").split()[:2]), "row") for line in rows]
    marked = [line for line in lines if line.startswith(">")]

    assert len(rows) > 5
    assert sizes == sorted(sizes)
    assert result.best is not None
    assert len(marked) == 1
    assert result.best.fix.change in marked[0]
