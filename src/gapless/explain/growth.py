"""Growth: memory of which there is more after each step, from the same places."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Growth


def growth_of(case: Case) -> tuple[Growth, ...]:
    """What grows with every step, the fastest first; empty where steps cannot be told apart."""
    del case
    return ()
