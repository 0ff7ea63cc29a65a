"""The card as a fix: the smallest one on which the program runs as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.cards import KNOWN_CARDS, Card
from gapless.tune.candidate import Candidate
from gapless.tune.fix import Kind
from gapless.tune.smallest_card import FINE_PARTS, smallest_card
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.smallest_card import SmallestCard


def larger_card(case: Case, parts: int = FINE_PARTS) -> tuple[Candidate, SmallestCard] | None:
    """The smallest known card that holds the program unchanged, or its size where none is that large.

    None where the card in question is large enough already, or no size helps.
    """
    as_it_is = Candidate(kind=Kind.CARD, change="")
    found = smallest_card(case, as_it_is, parts=parts)
    if found is None or found.bytes <= case.card.capacity_bytes:
        return None
    need = format_bytes(found.bytes - case.leave_free_bytes)
    free = f" beside the {format_bytes(case.leave_free_bytes)} that stay free" if case.leave_free_bytes else ""
    if case.demand_beyond_bytes or case.growth_bytes_per_step:
        change = (
            f"a card on which PyTorch may reserve more than {need}{free}: what comes after the failure needs memory too"
        )
        return Candidate(kind=Kind.CARD, change=change, card=Card("larger", found.bytes, found.bytes)), found
    able = [known.card for known in KNOWN_CARDS if known.card.capacity_bytes >= found.bytes]
    card = min(able, key=lambda card: card.capacity_bytes, default=Card("larger", found.bytes, found.bytes))
    name = f", like the {card.name}" if able else ""
    return Candidate(kind=Kind.CARD, change=f"a card on which PyTorch may reserve {need}{free}{name}", card=card), found
