"""The smallest card of the table on which a whole recorded run would have fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.cards import KNOWN_CARDS
from gapless.replaying import ReplayOptions, replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.recording import Recording


def smallest_known_card(recordings: Sequence[Recording]) -> str | None:
    """Its name; None where the table has none that is large enough.

    Args:
        recordings: Of the devices of a run, each from its beginning to its end; each needs a card of its own.
    """
    for known in sorted(KNOWN_CARDS, key=lambda one: one.card.capacity_bytes):
        card = known.card
        options = ReplayOptions(capacity_bytes=card.capacity_bytes, total_bytes=card.total_bytes)
        if not any(replay(one, options).failures for one in recordings):
            return known.name
    return None
