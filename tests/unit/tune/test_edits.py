"""Changes to the code, replayed as edits of the program."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gapless.recording import Recording, open_recordings
from gapless.tune import Grade, Outcome
from gapless.tune.candidates import code_batch, code_checkpoint, code_growth
from gapless.tune.layers import forward_passes
from gapless.tune.search import try_all
from gapless.tune.sizes import DecisiveSizes
from gapless.units import MIB
from tests.programs import Program, in_model, in_optimizer, user
from tests.recordings import each_shared_snapshot
from tests.unit.tune.made import case, training

NONE = DecisiveSizes(0, (), (), (), ())


def test_what_grows_is_let_go_at_the_end_of_its_step(tmp_path: Path) -> None:
    made = case(training(tmp_path, steps=40, leak=16 * MIB, capacity_bytes=800 * MIB))

    (candidate,) = (found for found in code_growth.propose(made, NONE) if found)
    (one,) = try_all(made, [candidate])

    assert candidate.change == "let go after each step what train.py:42 adds to it (16.00 MiB a step)"
    assert (one.outcome, one.fix.grade) == (Outcome.SERVES_REQUEST, Grade.MODELLED)
    assert one.fix.reserved_bytes_peak_after < 400 * MIB < 780 * MIB < one.fix.reserved_bytes_peak_before


def layered(folder: Path, *, layers: int = 6, capacity_bytes: int = 2048 * MIB) -> Recording:
    """A forward pass of layers that keep 10, 20 and 30 MiB each, the last of which goes on; then backward and step."""
    program = Program(capacity_bytes=capacity_bytes)
    program.alloc("weights", 64 * MIB, at=user(20, "setup"))
    for step in range(2):
        names = [(step, layer, size) for layer in range(layers) for size in (10, 20, 30)]
        for name in names:
            if not program.alloc(name, name[2] * MIB, at=in_model(30 + name[2])):
                return program.open(folder)
        for name in reversed(names):
            program.alloc("gradient", name[2] * MIB)
            program.free(name, "gradient")
        program.alloc("moment", 8 * MIB, at=in_optimizer())
        program.free("moment")
    return program.open(folder)


def test_layers_are_told_apart_by_their_stacks(tmp_path: Path) -> None:
    first, second = forward_passes(case(layered(tmp_path)))

    assert first.layer.tolist() == second.layer.tolist() == np.repeat(np.arange(6), 3).tolist()


def test_a_pass_that_failed_in_a_layer_has_the_layers_before_it(tmp_path: Path) -> None:
    (only,) = forward_passes(case(layered(tmp_path, layers=20, capacity_bytes=550 * MIB)))

    assert only.layer.tolist()[-1] == 7


def test_checkpoints_keep_the_output_of_each_layer_and_the_last_layer(tmp_path: Path) -> None:
    made = case(layered(tmp_path))

    (candidate,) = (found for found in code_checkpoint.propose(made, NONE) if found)
    (one,) = try_all(made, [candidate])

    # 64 of weights, six outputs of 30, one layer of 10 + 20, and a gradient of 30.
    assert candidate.change == "checkpoint the 6 layers around model.py:50: 150.00 MiB less is kept for backward"
    assert one.replay.result.requested_bytes_peak == (64 + 6 * 30 + 30 + 30) * MIB


def test_layers_that_keep_nothing_have_nothing_to_checkpoint(tmp_path: Path) -> None:
    program = Program(capacity_bytes=2048 * MIB)
    program.alloc("weights", 64 * MIB, at=user(20, "setup"))
    for layer in range(6):
        names = [(layer, size) for size in (10, 20, 30)]
        for name in names:
            program.alloc(name, name[1] * MIB, at=in_model(30 + name[1]))
        program.free(*names)
    program.free("weights")
    recording = program.open(tmp_path)

    for made in (case(recording), case(recording, at="end")):
        assert len(list(forward_passes(made))) == 1
        assert list(code_checkpoint.propose(made, NONE)) == []


@each_shared_snapshot(where=lambda path: path.name.startswith("train_gpt_small"))
def test_checkpoints_come_near_the_run_that_had_them(path: Path) -> None:
    """The same model was trained with checkpoints: 8.30 GiB reserved at most, against 10.42 GiB without."""
    made = case(open_recordings(str(path))[0])
    (real,) = open_recordings(str(path.with_name("train_gpt_checkpointing.pickle.gz")))
    measured = int(real.curves["reserved"].max())

    (candidate,) = (found for found in code_checkpoint.propose(made, NONE) if found)
    (one,) = try_all(made, [candidate])

    assert "the 12 layers" in candidate.change
    assert abs(one.fix.reserved_bytes_peak_after - measured) < 0.03 * measured


def test_a_smaller_batch_scales_passes_and_leaves_the_model_alone(tmp_path: Path) -> None:
    made = case(layered(tmp_path))

    halves = [found for found in code_batch.propose(made, NONE) if found]
    tried = {one.candidate.change[:8]: one for one in try_all(made, halves)}

    # At the peak six layers of 60 and a gradient of 30, of which half.
    assert tried["half the"].replay.result.requested_bytes_peak == (64 + (6 * 60 + 30) // 2) * MIB
    assert [one.candidate.order for one in tried.values()] != []
    assert all(one.fix.grade is Grade.MODELLED for one in tried.values())


def test_a_failed_request_of_a_pass_shrinks_with_the_batch(tmp_path: Path) -> None:
    made = case(layered(tmp_path, layers=20, capacity_bytes=550 * MIB))

    halves = [found for found in code_batch.propose(made, NONE) if found]
    tried = try_all(made, halves)

    assert made.failed
    assert [one.outcome for one in tried] == [Outcome.SERVES_REQUEST] * 3
