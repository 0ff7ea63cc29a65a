"""The median of anything is numpy's."""

from __future__ import annotations

import numpy as np
import pytest

from gapless.explain.median import median_of, medians_of


@pytest.mark.parametrize("count", [1, 2, 3, 10, 101])
def test_medians_are_those_of_numpy(count: int) -> None:
    rows = np.random.default_rng(count).integers(-50, 50, (count, 7))

    assert medians_of(rows).tolist() == np.median(rows, axis=0).tolist()
    assert median_of(rows[:, 0]) == np.median(rows[:, 0])
