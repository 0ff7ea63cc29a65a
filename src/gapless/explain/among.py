"""Whether numbers are among others, without the 15 ms in which `np.isin` may first load all of numpy.ma."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def among(values: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each value whether it is known.

    >>> among(np.array([5, 1, 7]), np.array([7, 2, 5, 5])).tolist(), among(np.array([5]), np.array([], int)).tolist()
    ([True, False, True], [False])
    """
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    ordered = np.sort(known)
    found: NDArray[np.bool_] = ordered[np.searchsorted(ordered, values).clip(max=len(ordered) - 1)] == values
    return found
