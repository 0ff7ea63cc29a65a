"""Two runs tell how each request grows; what they predict of a third is what the third does."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.cards import Card
from gapless.fit.growth import Growth
from gapless.fit.trial import Outcome, Ran
from gapless.units import KIB, MIB
from tests.programs import Program, in_model, in_optimizer, user

ENDLESS = Card("endless", 1 << 40, 1 << 40)


def train(folder: Path, batch: int, capacity_bytes: int = 1 << 40, layers: int = 4) -> Ran:
    """Weights that stay, activations that grow with the batch, the optimizer's moment."""
    program = Program(capacity_bytes=capacity_bytes)
    fits = program.alloc("weights", 100 * MIB, at=user(20))
    for step in range(2):
        for layer in range(layers):
            fits &= program.alloc((step, layer), 3 * MIB + batch * 1700 * KIB, at=in_model(30))
        if not fits:
            break
        program.free(*((step, layer) for layer in range(layers)))
        program.alloc((step, "moment"), 40 * MIB, at=in_optimizer())
        program.free((step, "moment"))
    recording = program.open(folder)
    peak = int(recording.curves["reserved"].max())
    outcome = Outcome.FITS if fits else Outcome.OUT_OF_MEMORY
    return Ran(batch, ENDLESS, outcome, peak, peak, {(0, 0): recording}, None)


def test_a_third_value_asks_for_what_was_predicted(tmp_path: Path) -> None:
    growth = Growth.between(train(tmp_path, 2), train(tmp_path, 3))
    third = train(tmp_path, 40).recordings[0, 0].trace.allocations.requested

    assert growth is not None
    assert growth.requested((0, 0), 40).tolist() == third.tolist()


@pytest.mark.parametrize("capacity_mib", [150, 237, 400, 1000])
def test_what_is_predicted_to_fit_fits_and_the_next_does_not(capacity_mib: int, tmp_path: Path) -> None:
    growth = Growth.between(train(tmp_path, 2), train(tmp_path, 3))
    card = Card("card", capacity_mib * MIB, capacity_mib * MIB)

    assert growth is not None
    for batch in range(1, 140):
        assert growth.fits(batch, card) == train(tmp_path, batch, capacity_mib * MIB).fits, batch


def test_runs_in_another_order_predict_nothing(tmp_path: Path) -> None:
    assert Growth.between(train(tmp_path, 2), train(tmp_path, 3, layers=5)) is None


def test_a_growth_goes_upwards(tmp_path: Path) -> None:
    assert Growth.between(train(tmp_path, 3), train(tmp_path, 2)) is None
