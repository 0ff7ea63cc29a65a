"""The memory limit that a fraction of the card means, as each release computes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gapless.conf import Release

if TYPE_CHECKING:
    from gapless.cards import Card
    from gapless.conf import Settings

FRACTION = "per_process_memory_fraction"
"""The option of the settings string; before it there was only a call."""
FRACTION_OPTION_SINCE = Release(2, 10)
_ONE_MEANS_NONE_SINCE = Release(2, 10)
_ROUNDS_SINCE = Release(2, 13)


def limit_of_fraction(fraction: float, total_bytes: int, release: Release) -> int | None:
    """Bytes that a process may reserve under a fraction; None: no limit is in force.

    >>> limit_of_fraction(1.0, 1000, Release(2, 9)), limit_of_fraction(1.0, 1000, Release(2, 10))
    (1000, None)
    """
    if fraction == 1.0 and release >= _ONE_MEANS_NONE_SINCE:
        return None
    exact = fraction * total_bytes
    return math.floor(exact + 0.5) if release >= _ROUNDS_SINCE else math.trunc(exact)


def limit_in_settings(settings: Settings, total_bytes: int, release: Release) -> int | None:
    """The limit that the fraction in a settings string makes of a card; None: no limit is in force."""
    fraction = settings.per_process_memory_fraction
    return limit_of_fraction(fraction, total_bytes, release) if fraction < 1 else None


def fraction_for(limit_bytes: int, total_bytes: int) -> float:
    """The largest fraction in thousandths that allows no more than a limit.

    >>> fraction_for(18 << 30, 24 << 30)
    0.75
    """
    return math.floor(1000 * limit_bytes / total_bytes) / 1000


def fraction_leaving(card: Card, free_bytes: int, settings: Settings) -> float:
    """The largest fraction, in thousandths, that leaves so much of what PyTorch could reserve, whatever it asks for.

    PyTorch holds the bytes that it asks for against its limit. Expandable segments then grow by whole pages, so they
    may end up to a page above it.
    """
    beyond = settings.large_segment_size if settings.expandable_segments else 0
    return fraction_for(max(card.capacity_bytes - free_bytes - beyond, 0), card.total_bytes)
