"""What memory in use is for: weights, gradients, optimizer state, activations, or something temporary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.finding import KINDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gapless.explain.case import Case

KIND_CODE = {kind: code for code, kind in enumerate(KINDS)}


def kinds_of(case: Case) -> NDArray[np.int64]:
    """Per block of the state the index of its kind in ``KINDS``."""
    return np.full(len(case.sizes), KIND_CODE["unknown"], dtype=np.int64)
