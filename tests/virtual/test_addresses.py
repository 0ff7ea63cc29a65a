"""Up to PyTorch 2.11 the driver's addresses decide a little; the report gives the range over both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.units import MIB
from tests.virtual.runs import run

if TYPE_CHECKING:
    from pathlib import Path


def test_the_range_is_what_runs_with_both_orders_reserve(python: Path, tmp_path: Path) -> None:
    orders = ("ascending", "descending")
    runs = [run(python, tmp_path, "ties.py", options=("--addresses", order)) for order in orders]
    (up,), (down,) = (one.process["devices"] for one in runs)
    decides = runs[0].report["torch"].startswith("2.6.")

    assert (up["reserved_bytes_peak"], down["reserved_bytes_peak"]) == (160 * MIB, (100 if decides else 160) * MIB)
    for device in (up, down):
        assert device["reserved_bytes_peak_range"] == [down["reserved_bytes_peak"], up["reserved_bytes_peak"]]
