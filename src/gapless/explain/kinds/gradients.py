"""The gradients of weights, told by what one backward pass makes and what of it is left behind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.among import among
from gapless.explain.kinds.lifetimes import UNTOLD, WORKSPACE_BYTES, Lives
from gapless.explain.kinds.phases import Phase
from gapless.explain.kinds.stack_roles import Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

THREADS = 2
"""That multiply matrices, and keep a workspace each: the program's own and one of autograd."""


@dataclass(frozen=True, eq=False)
class Gradients:
    """Those of the pass that left most behind, or made most where none left any."""

    lives: Lives

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Bytes of each that was left behind.

        None where most of those that it made end in the pass: there they are added to what stands, and only the last
        ones, which nothing follows, outlive it.
        """
        stays = self.lives.outlives[self._made] == 1
        adds = self._is_plain.any() and 2 * np.count_nonzero(stays & self._is_plain) < np.count_nonzero(self._is_plain)
        lasts = stays & self._is_there_later
        if 2 * np.count_nonzero(lasts) > np.count_nonzero(stays):  # else the program drops gradients that early
            stays = lasts
        found: NDArray[np.int64] = self.made_sizes[stays]
        return found[:0] if adds else found

    @property
    def _is_there_later(self) -> NDArray[np.bool_]:
        """Whether it still lives when something is allocated after the pass; what does not belonged to the pass."""
        lives, made = self.lives, self._made
        over = lives.born[lives.run == lives.run[made[0]]].max() if len(made) else 0
        found: NDArray[np.bool_] = lives.died[made] > lives.born[lives.born > over].min(initial=lives.event_count)
        return found

    @property
    def made_sizes(self) -> NDArray[np.int64]:
        """Bytes of all that the pass made in a size that stands from setup."""
        return self.lives.requested[self._made]

    @property
    def plain_sizes(self) -> NDArray[np.int64]:
        """Of these, those that forward passes make nothing of, so that they are no gradients of activations."""
        return self.made_sizes[self._is_plain]

    @cached_property
    def _is_plain(self) -> NDArray[np.bool_]:
        lives = self.lives
        return ~among(self.made_sizes, lives.requested[lives.phase == Phase.FORWARD])

    @cached_property
    def _made(self) -> NDArray[np.int64]:
        lives = self.lives
        made = (lives.phase == Phase.BACKWARD) & (lives.outlives != UNTOLD) & (lives.run >= 0)
        of_setup = lives.requested[(lives.phase == Phase.SETUP) & ~lives.belongs_to_a_step[lives.stack]]
        if len(of_setup):
            made &= among(lives.requested, of_setup)
        kept = made & (lives.outlives == 1)
        sized = np.isin(lives.requested, WORKSPACE_BYTES)
        if np.count_nonzero(sized & (lives.run < 0)) <= THREADS and not (kept & sized & bool(len(of_setup))).any():
            made &= ~sized  # what stands in that size are workspaces, not weights
        named = made & (lives.phases.roles[lives.stack] == Role.GRADIENT)
        made = named if named.any() else made
        kept &= made
        counted = lives.run[kept if kept.any() else made]
        return np.flatnonzero(made & (lives.run == (np.bincount(counted).argmax() if len(counted) else -1)))
