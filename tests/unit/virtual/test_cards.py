"""The table of cards, as the pretend driver reports them."""

from __future__ import annotations

from gapless.cards import KNOWN_CARDS, find_card
from gapless.units import GIB
from gapless.virtual.cards import virtual_card


def test_every_known_card_has_a_processor() -> None:
    for known in KNOWN_CARDS:
        card = virtual_card(find_card(known.name))

        assert card.capacity_bytes == known.driver_total_bytes
        assert card.context_bytes == known.context_bytes > 0
        assert not card.name.startswith("Pretend")


def test_a_size_alone_gives_all_of_it_to_pytorch() -> None:
    card = virtual_card(find_card("24GiB"), devices=2)

    assert (card.capacity_bytes, card.context_bytes, card.devices) == (24 * GIB, 0, 2)
