"""The card as a fix: the smallest one on which the program runs as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.cards import KNOWN_CARDS, Card
from gapless.explain.state_to_come import state_to_come_bytes
from gapless.tune.candidate import Candidate, beside_others
from gapless.tune.fix import Kind
from gapless.tune.limits import limit_of_fraction
from gapless.tune.smallest_card import FINE_PARTS, SmallestCard, smallest_card
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.tune.case import Case

_ANY = "larger"
"""Named so: a card that only stands for its size."""


def larger_card(case: Case, parts: int = FINE_PARTS) -> tuple[Candidate, SmallestCard] | None:
    """The smallest known card that holds the program unchanged, or its size where none is that large.

    None where the card in question is large enough already, or no size helps.
    """
    as_it_is = Candidate(kind=Kind.CARD, change="", fraction=case.fraction_on(case.card, case.recording.settings))
    found = smallest_card(case, as_it_is, parts=parts)
    if found is None or found.bytes <= case.card.capacity_bytes or _is_refused_by_a_limit(case):
        return None
    to_come = state_to_come_bytes(case.explained)
    if to_come:
        least = case.explained.facts.active_bytes + to_come + case.leave_free_bytes
        found = SmallestCard(max(found.bytes, least), found.grain_bytes)
    need = format_bytes(found.bytes - case.leave_free_bytes)
    free = f" beside the {format_bytes(case.leave_free_bytes)} that stay free" if case.leave_free_bytes else ""
    card = Card(_ANY, found.bytes, found.bytes + case.card.total_bytes - case.card.capacity_bytes)
    if to_come:
        change = (
            f"a card on which PyTorch may reserve at least {need}{free}: the optimizer has about"
            f" {format_bytes(to_come)} more of its state to make"
        )
    elif case.demand_beyond_bytes or case.growth_bytes_per_step:
        change = (
            f"a card on which PyTorch may reserve more than {need}{free}: what comes after the failure needs memory too"
        )
    else:
        able = [known.card for known in KNOWN_CARDS if _room(case, known.card) >= _room(case, card)]
        card = min(able, key=lambda card: card.capacity_bytes, default=card)
        change = f"a card on which PyTorch may reserve {need}{free}{f', like the {card.name}' if able else ''}"
    of_size = Candidate(kind=Kind.CARD, change=change, card=card, is_card_open=card.name == _ANY)
    return beside_others(case, of_size), found


def _is_refused_by_a_limit(case: Case) -> bool:
    """Whether a memory limit refused on this very card: the card had room, so that no larger one is called for."""
    refusal = case.explained.refusal
    return case.card_is_recorded and refusal is not None and refusal.by_limit


def _room(case: Case, card: Card) -> int:
    """What PyTorch may reserve there beside what stays free."""
    fraction = case.fraction_on(card, case.recording.settings)
    limit = None if fraction is None else limit_of_fraction(fraction, card.total_bytes, case.recording.release)
    return card.capacity_bytes if limit is None else limit
