"""A run explained on another card than its own: what fails there, by replay, or plainly what was recorded."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from gapless.explain import ExplainOptions, explain
from gapless.recording import Recording, open_recordings
from gapless.tune import TuneOptions, advised, best_fixes, tune
from gapless.units import MIB
from tests.programs import Program, user
from tests.schemas import validate
from tests.unit.tune.made import pinned


def full(folder: Path) -> Recording:
    """900 and 800 MiB are served, 600 more are not: 2000 MiB are there."""
    program = Program(capacity_bytes=2000 * MIB)
    program.alloc("a", 900 * MIB, at=user(1))
    program.alloc("b", 800 * MIB, at=user(2))
    assert not program.alloc("c", 600 * MIB, at=user(3))
    return program.open(folder)


def on(card: int, **more: int) -> ExplainOptions:
    """The options for a card of so many MiB."""
    return ExplainOptions(card_bytes=card * MIB, **{name: size * MIB for name, size in more.items()})


def test_the_moment_is_the_one_that_fails_there(tmp_path: Path) -> None:
    recording = full(tmp_path)

    there = explain(recording, on(1500))
    state = there.to_json()["state"]

    assert there.verdict.code == "OOM101"
    assert there.verdict.message.startswith(
        "With 1.46 GiB for PyTorch the replay runs out of memory at event 3, not 4: the request for 800.00 MiB at"
        " train.py:2 "
    )
    assert (state["at"], state["event"], state["capacity_bytes"]) == ("event:3", 3, 1500 * MIB)
    assert (state["requested_bytes"], state["reserved_bytes"], state["device_free_bytes"]) == (
        800 * MIB,
        900 * MIB,
        600 * MIB,
    )
    assert state["replayed_on_bytes"] == 1500 * MIB
    assert explain(recording).to_json()["state"]["replayed_on_bytes"] is None
    assert [(holder.at and holder.at[1], holder.bytes) for holder in there.holders] == [(1, 900 * MIB)]
    validate(there.to_json())


def test_the_cause_can_be_another_one_there(tmp_path: Path) -> None:
    """In pieces on its own card; on a smaller one memory is full before, and no order of allocations helps."""
    recording = pinned(tmp_path)

    assert explain(recording).verdict.code == "FRAG201"
    assert explain(recording, on(900)).verdict.code == "OOM101"


def test_pieces_are_not_all_where_more_is_live_than_there_is(tmp_path: Path) -> None:
    """1000 MiB are cut and freed but for ten pins, so that 300 fail on 1250 MiB; later 1300 are live at one time."""
    program = Program(capacity_bytes=4000 * MIB)
    for k in range(10):
        program.alloc(("whole", k), 110 * MIB, at=user(1))
    program.free(*(("whole", k) for k in range(10)))
    for k in range(10):
        program.alloc(("large", k), 100 * MIB, at=user(2))
        program.alloc(("small", k), 10 * MIB, at=user(3))
    program.free(*(("large", k) for k in range(10)))
    program.alloc("more", 300 * MIB, at=user(4))
    program.alloc("most", 900 * MIB, at=user(5))

    there = explain(program.open(tmp_path), ExplainOptions(card_bytes=1250 * MIB))

    assert there.verdict.code == "FRAG201"
    assert there.verdict.why.endswith("In all, the run has 1.27 GiB live at one time, more than there is.")
    assert there.verdict.what_to_do == (
        "No allocator setting helps. A smaller job, or a card with at least 1.27 GiB for PyTorch."
    )


def test_what_a_request_gave_back_in_vain_is_gone(tmp_path: Path) -> None:
    program = Program(capacity_bytes=2000 * MIB)
    program.alloc("a", 500 * MIB, at=user(1))
    program.free("a")
    program.alloc("b", 900 * MIB, at=user(2))

    there = explain(program.open(tmp_path), ExplainOptions(card_bytes=850 * MIB))

    assert there.verdict.code == "OOM102"
    assert (there.facts.reserved_bytes, there.facts.free_bytes, there.facts.device_free_bytes) == (0, 0, 850 * MIB)


@pytest.mark.parametrize("card", [2000, 1999, 4000])
def test_the_recorded_card_is_explained_as_recorded_and_a_larger_one_says_so(tmp_path: Path, card: int) -> None:
    recording = full(tmp_path)

    there, plain = explain(recording, on(card)), explain(recording)

    if card == 2000:
        assert there.verdict == plain.verdict
    elif card == 1999:
        assert there.verdict.message.startswith(
            "With 1.95 GiB for PyTorch the replay runs out of memory at event 4, as"
        )
    else:
        assert there.verdict.message.startswith("As recorded, where PyTorch could have 1.95 GiB: the request for 600")
        assert there.facts == plain.facts


def test_room_for_others_is_not_for_pytorch(tmp_path: Path) -> None:
    recording = full(tmp_path)

    there = explain(recording, on(2500, leave_free_bytes=1000))

    assert there.facts.capacity_bytes == 1500 * MIB
    assert there.case.moment.event == 3


def test_fixes_and_bound_are_those_of_tune(tmp_path: Path) -> None:
    recording = full(tmp_path)
    options = TuneOptions()
    there = explain(recording, on(1500))

    answer = advised(there, best_fixes(there.case, options))

    assert there.lower_bound_bytes == tune(recording, options).case.lower_bound_bytes == 2300 * MIB
    assert answer.verdict.code == "OOM101"


def test_a_moment_that_is_asked_for_stays(tmp_path: Path) -> None:
    recording = full(tmp_path)

    there = explain(recording, ExplainOptions(card_bytes=1500 * MIB, at="oom"))

    assert there.case.on_card is None
    assert there.case.moment.event == 4
    assert there.verdict.message.startswith("As recorded, where PyTorch could have 1.95 GiB: ")


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (2000, "With 1.95 GiB for PyTorch that moment fits; what came before it is not known."),
        (1000, "With 1000.00 MiB for PyTorch it fits only as far as what is cached is given back."),
        (800, "With 800.00 MiB for PyTorch that does not fit."),
    ],
)
def test_a_moment_alone_is_held_against_the_card(card: int, said: str, tmp_path: Path) -> None:
    program = Program(capacity_bytes=2000 * MIB)
    program.alloc("a", 900 * MIB, at=user(1))
    program.alloc("b", 800 * MIB, at=user(2))
    program.free("b")
    path = tmp_path / "moment.pickle"
    path.write_bytes(pickle.dumps({**program.to_dict(), "device_traces": [[]]}))
    (recording,) = open_recordings(str(path))

    assert explain(recording, on(card)).verdict.message.endswith(said)
