"""Cards by name and by size."""

from __future__ import annotations

import pytest

from gapless.cards import KNOWN_CARDS, Card, find_card
from gapless.errors import InputError
from gapless.units import GIB, MIB


def test_a_size_is_what_pytorch_may_reserve() -> None:
    assert find_card(" 24GiB ") == Card("24GiB", 24 * GIB, 24 * GIB)
    assert find_card("80g").capacity_bytes == 80 * GIB
    assert find_card("1PiB").capacity_bytes == 1 << 50
    assert find_card("1 pb").capacity_bytes == 1 << 50


def test_a_name_gives_the_drivers_total_less_the_context() -> None:
    card = find_card("h100-80g")

    assert card == Card("h100-80g", (81008 - 580) * MIB, 81008 * MIB)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVIDIA H100 80GB", "h100-80g"),
        ("H100", "h100-80g"),
        ("A100-SXM4-80GB", "a100-80g"),
        ("a100-40", "a100-40g"),
        ("GeForce RTX 4090", "rtx4090"),
        ("rtx3090", "rtx3090"),
        ("Tesla T4", "t4"),
        ("A10G", "a10"),
        ("h100-80", "h100-80g"),
        ("NVIDIA H100 80GB HBM3", "h100-80g"),
        ("NVIDIA A100-PCIE-40GB", "a100-40g"),
        ("NVIDIA GeForce RTX 3090", "rtx3090"),
        ("rtx-5090", "rtx5090"),
    ],
)
def test_names_are_known_as_people_write_them(text: str, name: str) -> None:
    assert find_card(text).name == name


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("h20", "no card is known as 'h20'", "did you mean h200?"),
        ("a100", "'a100' is short for 2 cards", "write a100-40g or a100-80g"),
        ("NVIDIA A100", "'NVIDIA A100' is short for 2 cards", "write a100-40g or a100-80g"),
        ("a10g-24", "no card is known as 'a10g-24'", "did you mean a10g?"),
        ("2PiB", "'2PiB' is more memory than there is", "the largest that can be said is"),
        ("24", "a card of 24 bytes is too small for anything", "write 24GiB?"),
        ("24XiB", "'24XiB' is not a size", "write it like 24GiB"),
        ("", "no card is known as ''", "Known: t4"),
    ],
)
def test_what_is_no_card_is_said_with_the_nearest_one(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        find_card(text)

    assert caught.value.message == message
    assert hint in caught.value.hint


def test_every_card_has_a_source_and_leaves_most_of_itself_to_pytorch() -> None:
    for known in KNOWN_CARDS:
        assert known.source
        assert 0.95 < known.card.capacity_bytes / known.driver_total_bytes < 1
