"""`tune`: from a recording to ranked fixes, each replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.cards import Card
from gapless.errors import InputError
from gapless.tune.candidates import propose_all
from gapless.tune.case import Case, recorded_card, recorded_limit
from gapless.tune.critical import critical_moment
from gapless.tune.search import Tried, try_all
from gapless.tune.sizes import decisive_sizes
from gapless.tune.steps import boundaries_of
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.recording import Recording


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """What the user wants to know."""

    card: Card | None = None
    """None: the card that the recording shows."""
    leave_free_bytes: int = 0
    """Of the card, for others than PyTorch."""
    at: str | None = None
    """The critical moment, as for `critical_moment`."""
    finds_cards: bool = True
    on_done: Callable[[int, int], None] | None = None


@dataclass(frozen=True)
class TuneResult:
    """The fixes of one recording, best first."""

    case: Case
    tried: tuple[Tried, ...]

    @property
    def best(self) -> Tried | None:
        """The best one that helps; None where nothing does."""
        return next((one for one in self.tried if one.helps), None)


def tune(recording: Recording, options: TuneOptions | None = None) -> TuneResult:
    """Tries every change that the recording suggests.

    Raises:
        InputError: The recording has no events, or no such moment; or more memory shall stay free than there is.
    """
    chosen = options or TuneOptions()
    case = case_of(recording, chosen)
    candidates = propose_all(case, decisive_sizes(case))
    return TuneResult(case, tuple(try_all(case, candidates, finds_cards=chosen.finds_cards, on_done=chosen.on_done)))


def case_of(recording: Recording, options: TuneOptions) -> Case:
    """What is tuned under the options."""
    if recording.event_count == 0:
        raise InputError(
            "this recording holds no events, so nothing can be replayed",
            hint="record with torch.cuda.memory._record_memory_history() on before the memory is allocated",
            where=recording.path,
        )
    critical = critical_moment(recording, options.at)
    shown = recorded_card(recording, critical)
    card = options.card or shown
    if options.leave_free_bytes >= card.capacity_bytes:
        raise InputError(
            f"{format_bytes(options.leave_free_bytes)} cannot stay free on a card of"
            f" {format_bytes(card.capacity_bytes)}",
            where="--leave-free",
        )
    return Case(
        recording=recording,
        critical=critical,
        card=card,
        card_is_recorded=options.card is None,
        limit=recorded_limit(recording, critical, shown),
        boundaries=boundaries_of(recording),
        leave_free_bytes=options.leave_free_bytes,
    )
