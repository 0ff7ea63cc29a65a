"""What a file does not say, as readings to try: the self-check tells which of them the recording allows.

Whether releases were asked for or forced, how large the card is, which pools never split a block, where the memory
limit lies. The first reading is the plainest one; the first that replays exactly is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gapless import _core
from gapless.recording.recording import ACTION
from gapless.recording.reserving import reserved_bytes, segment_bytes
from gapless.units import GIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gapless._core import Events, Program, Trace
    from gapless.conf import Settings

# Cards whose reservations can run out of addresses in a recording; driver totals are a little less, rounded up by page.
_TOTALS = tuple(size * GIB for size in (24, 80, 16, 32, 40, 48, 12, 96, 141, 180, 192))
_FORCED = {"releases_are_retries": True}
_FRACTIONS = tuple(part / 20 for part in range(1, 20))


@dataclass(frozen=True)
class Reading:
    """One way to understand a recording.

    Attributes:
        grouping: Arguments of `_core.build_program`.
        total_bytes: Of the card; None: not known and of no matter.
        limit_bytes: Of a memory fraction; None: none.
    """

    grouping: dict[str, Any] = field(default_factory=dict)
    total_bytes: int | None = None
    limit_bytes: int | None = None

    def program(self, trace: Trace) -> Program:
        """The calls of the recording, as this reading groups them."""
        return _core.build_program(trace, **self.grouping)

    def asking(self, releases: list[int]) -> Reading:
        """The same, where the releases at these events are known to be calls of empty_cache()."""
        return replace(self, grouping={**self.grouping, "releases_are_retries": False, "asked_releases": releases})


def readings(trace: Trace, events: Events, pool_count: int, settings: Settings, known: Reading) -> Iterator[Reading]:
    """The readings worth trying, plainest first.

    Args:
        trace: The recording.
        events: Its events.
        pool_count: Pools of the snapshot, the default one among them.
        settings: Those in force.
        known: What the user said; it is not varied.
    """
    yield known
    if np.isin(events.action, [ACTION["segment_free"], ACTION["segment_unmap"]]).any():
        yield replace(known, grouping=_FORCED)
    if pool_count > 1:
        yield replace(known, grouping={"looks_for_no_split_pools": True})
    if settings.expandable_segments and known.total_bytes is None:
        yield from (replace(known, total_bytes=total) for total in _TOTALS)
    if settings.garbage_collection_threshold > 0 and known.limit_bytes is None:
        of_cards = _limits_of_cards(settings.per_process_memory_fraction, known.total_bytes)
        likely = limits(trace, events, settings) or of_cards
        yield from (replace(known, grouping=_FORCED, limit_bytes=limit) for limit in likely)


def _limits_of_cards(fraction: float, total_bytes: int | None) -> list[int]:
    """The limits that a fraction makes of the card, or of the usual cards; a fraction of 1 is no limit."""
    totals = _TOTALS if total_bytes is None else (total_bytes,)
    return [int(total * fraction) for total in totals] if fraction < 1 else []


def limits(trace: Trace, events: Events, settings: Settings) -> list[int]:
    """Memory limits in bytes that the first failure allows, likely ones first; none without a failure.

    A request that fails while the card has room was refused by a limit, which lies between the most that was ever
    reserved and what this request would have made it. Limits are mostly set as round fractions of the card, and the
    card is at least what was reserved and free at that moment.
    """
    failures = np.flatnonzero(events.action == ACTION["oom"])
    if not len(failures):
        return []
    at = int(failures[0])
    reserved = reserved_bytes(trace, events)[1:]  # after each event
    free_bytes, least = int(events.address[at]), int(reserved.max())
    most = int(reserved[at]) + segment_bytes(int(events.size[at]), settings) - 1
    if free_bytes < most + 1 - int(reserved[at]) or most < least:
        return []
    card_bytes = int(reserved[at]) + free_bytes
    likely = [int(card_bytes * fraction) for fraction in _FRACTIONS if least <= card_bytes * fraction <= most]
    return [*likely, most, least, (least + most) // 2]
