"""Cards: how much memory PyTorch can reserve on each, by name or by size.

A card's name gives what its driver reports less what a process loses before its first tensor: the CUDA context,
kernels, libraries. Both come from out-of-memory messages of real runs, which state the card's total, what the process
holds and what PyTorch reserved. Drivers differ by some 100 MiB; the smaller figure was taken.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from gapless.errors import InputError
from gapless.units import GIB, MIB, format_bytes, parse_bytes


@dataclass(frozen=True)
class Card:
    """A card as a PyTorch process meets it."""

    name: str
    """A known card's name, or the size that was asked for."""
    capacity_bytes: int
    """What PyTorch may reserve."""
    total_bytes: int
    """What the driver reports as the card's size; memory fractions are of this."""


@dataclass(frozen=True)
class KnownCard:
    """One row of the table."""

    name: str
    driver_total_bytes: int
    context_bytes: int
    """Used by a process beside what PyTorch reserves, without NCCL and graphs."""
    source: str

    @property
    def card(self) -> Card:
        """What a process meets."""
        return Card(self.name, self.driver_total_bytes - self.context_bytes, self.driver_total_bytes)


def _gib(hundredths: int) -> int:
    """Bytes of so many hundredths of a GiB, down to a whole MiB: messages print two decimals."""
    return hundredths * GIB // 100 // MIB * MIB


_MESSAGES = "total and process sizes in public out-of-memory messages"
KNOWN_CARDS: tuple[KnownCard, ...] = (
    KnownCard("t4", _gib(1456), 160 * MIB, "https://github.com/Zheng-Chong/CatVTON/issues/133"),
    KnownCard("l4", _gib(2203), 400 * MIB, f"{_MESSAGES}; https://github.com/modal-labs/modal-client/pull/2797"),
    KnownCard("a10", _gib(2199), 400 * MIB, "https://github.com/zai-org/CogVLM/issues/236"),
    KnownCard("rtx3090", _gib(2369), 460 * MIB, "https://github.com/OpenHelix-Team/cobra/issues/24"),
    KnownCard("rtx4090", _gib(2352), 460 * MIB, "https://github.com/Soul-AILab/SoulX-FlashTalk/issues/5"),
    KnownCard("rtx5090", _gib(3134), 520 * MIB, _MESSAGES),
    KnownCard("a100-40g", _gib(3938), 560 * MIB, _MESSAGES),
    KnownCard("l40s", _gib(4440), 500 * MIB, "https://github.com/NVlabs/Eagle/issues/68"),
    KnownCard("a100-80g", _gib(7914), 560 * MIB, f"{_MESSAGES}; https://github.com/levihsu/OOTDiffusion/issues/235"),
    KnownCard("h100-80g", _gib(7911), 580 * MIB, "https://github.com/vllm-project/vllm/issues/27508"),
    KnownCard("h200", _gib(13972), 680 * MIB, _MESSAGES),
    KnownCard("b200", _gib(17835), 720 * MIB, "https://github.com/pytorch/ao/pull/4002"),
)
_BY_NAME = {known.name: known for known in KNOWN_CARDS}
_SHORT = {"3090": "rtx3090", "4090": "rtx4090", "5090": "rtx5090", "a10g": "a10"}
_SAID_TOO = {
    "nvidia",
    "tesla",
    "geforce",
    "rtx",
    "sxm",
    "sxm2",
    "sxm4",
    "sxm5",
    "pcie",
    "hbm2",
    "hbm2e",
    "hbm3",
    "hbm3e",
}
SMALLEST_CARD_BYTES = 64 * MIB
"""A size below this is taken for a slip: 24 means bytes, not GiB."""


def find_card(text: str, option: str = "--card") -> Card:
    """The card that a name or a size means.

    A size is what PyTorch may reserve, with nothing taken off.

    Raises:
        InputError: No card has the name, and it is no size or a size too small for any card.

    >>> find_card("24GiB").capacity_bytes == 24 * GIB
    True
    >>> format_bytes(find_card("h100-80g").capacity_bytes)
    '78.54 GiB'
    """
    name = _plain(text)
    meant = _meant(name)
    if len(meant) == 1:
        return meant[0].card
    if meant:
        hint = f"write {' or '.join(known.name for known in meant)}"
        raise InputError(f"{text[:60]!r} is short for {len(meant)} cards", hint=hint, where=option)
    if not any(char.isdigit() for char in name[:1]):
        near = difflib.get_close_matches(name, [*_BY_NAME, *_SHORT], n=1, cutoff=0.4)
        like = f"did you mean {near[0]}? " if near else ""
        hint = f"{like}Known: {', '.join(_BY_NAME)}; or a size like 24GiB"
        raise InputError(f"no card is known as {text[:60]!r}", hint=hint, where=option)
    size = parse_bytes(text, option)
    if size < SMALLEST_CARD_BYTES:
        hint = f"write {text.strip()}GiB?" if size and text.strip().isdigit() else "write it like 24GiB"
        raise InputError(f"a card of {format_bytes(size)} is too small for anything", hint=hint, where=option)
    return Card(text.strip(), size, size)


def _meant(name: str) -> list[KnownCard]:
    """The cards that a plain name means: its own, else those that it begins, up to a hyphen."""
    known = _BY_NAME.get(_SHORT.get(name, name)) or _BY_NAME.get(f"{name}g")
    if known:
        return [known]
    return [known for known in KNOWN_CARDS if name and known.name.startswith(f"{name}-")]


def _plain(text: str) -> str:
    """A name without the maker's words: "NVIDIA H100 80GB" and "h100-80g" are one."""
    words = text.lower().replace("_", "-").replace(" ", "-").strip("-").split("-")
    kept = [word for word in words if word not in _SAID_TOO]
    return "-".join(word.removesuffix("b") if word.endswith("gb") else word for word in kept if word)
