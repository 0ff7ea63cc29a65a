"""The pretend card's own figures: what a driver would say of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gapless.cards import Card
from gapless.units import KIB, MIB

if TYPE_CHECKING:
    from gapless.virtual.installation import TorchBuild


ADDRESSES = ("ascending", "descending")
"""How a driver chooses addresses: upwards (Windows, WSL), or downwards in steps of 32 MiB (Linux)."""
_CODE_OF = {87: 86, 89: 86, 103: 100, 121: 120}
"""Capabilities for which PyTorch's wheels have no code of their own: see torch.cuda.get_arch_list()."""


@dataclass(frozen=True)
class VirtualCard:
    """One kind of card, and how many of them a process sees."""

    name: str
    capacity_bytes: int
    """As the driver reports it."""
    context_bytes: int
    """Charged before PyTorch's first tensor."""
    capability: int
    """89 for 8.9."""
    multiprocessors: int
    threads_per_multiprocessor: int
    shared_per_multiprocessor_bytes: int
    l2_bytes: int
    registers_per_multiprocessor: int = 65536
    devices: int = 1
    charges: Mapping[str, int] = field(default_factory=dict)
    """Bytes that a handle, or a communicator, of a library takes beside PyTorch, by the library's name."""
    addresses: str = "ascending"
    """Where new memory lies: one of ADDRESSES."""

    @property
    def code(self) -> int:
        """The architecture in PyTorch's wheels whose code this card runs; some scratch buffers depend on it."""
        return _CODE_OF.get(self.capability, self.capability)

    def settings_text(self, torch: TorchBuild) -> str:
        """What GAPLESS_CARD is to hold."""
        values = {
            "name": self.name.replace(";", " "),
            "devices": self.devices,
            "capacity": self.capacity_bytes,
            "context": self.context_bytes,
            "capability": self.capability,
            "code": self.code,
            "multiprocessors": self.multiprocessors,
            "threads_per_multiprocessor": self.threads_per_multiprocessor,
            "registers_per_multiprocessor": self.registers_per_multiprocessor,
            "shared_per_multiprocessor": self.shared_per_multiprocessor_bytes,
            "shared_per_block": self.shared_per_multiprocessor_bytes - KIB,
            "l2_cache": self.l2_bytes,
            "addresses": self.addresses,
            "cudnn": torch.cudnn,
            **{f"charge_{name}": size for name, size in self.charges.items()},
        }
        return ";".join(f"{key}={value}" for key, value in values.items())


@dataclass(frozen=True)
class _Chip:
    """What a card's processor is, by the card's name in `gapless.cards`."""

    title: str
    """As the driver names it."""
    capability: int
    multiprocessors: int
    l2_bytes: int
    source: str


@dataclass(frozen=True)
class _Multiprocessor:
    threads: int
    shared_bytes: int


# By capability: "Technical Specifications per Compute Capability" of NVIDIA's CUDA programming guide.
_MULTIPROCESSORS = {
    75: _Multiprocessor(1024, 64 * KIB),
    80: _Multiprocessor(2048, 164 * KIB),
    86: _Multiprocessor(1536, 100 * KIB),
    89: _Multiprocessor(1536, 100 * KIB),
    90: _Multiprocessor(2048, 228 * KIB),
    100: _Multiprocessor(2048, 228 * KIB),
    120: _Multiprocessor(1536, 100 * KIB),
}
# Multiprocessors and L2: NVIDIA's architecture papers and data sheets, named last.
_CHIPS = {
    "t4": _Chip("Tesla T4", 75, 40, 4 * MIB, "Turing architecture paper"),
    "l4": _Chip("NVIDIA L4", 89, 58, 48 * MIB, "L4 product brief"),
    "a10": _Chip("NVIDIA A10", 86, 72, 6 * MIB, "A10 data sheet"),
    "rtx3090": _Chip("NVIDIA GeForce RTX 3090", 86, 82, 6 * MIB, "GA102 architecture paper"),
    "rtx4090": _Chip("NVIDIA GeForce RTX 4090", 89, 128, 72 * MIB, "Ada architecture paper"),
    "rtx5090": _Chip("NVIDIA GeForce RTX 5090", 120, 170, 96 * MIB, "RTX Blackwell architecture paper"),
    "a100-40g": _Chip("NVIDIA A100-SXM4-40GB", 80, 108, 40 * MIB, "A100 architecture paper"),
    "l40s": _Chip("NVIDIA L40S", 89, 142, 96 * MIB, "L40S data sheet"),
    "a100-80g": _Chip("NVIDIA A100-SXM4-80GB", 80, 108, 40 * MIB, "A100 architecture paper"),
    "h100-80g": _Chip("NVIDIA H100 80GB HBM3", 90, 132, 50 * MIB, "H100 architecture paper"),
    "h200": _Chip("NVIDIA H200", 90, 132, 50 * MIB, "H200 data sheet"),
    "b200": _Chip("NVIDIA B200", 100, 148, 126 * MIB, "Blackwell architecture brief"),
}
_BY_SIZE = _CHIPS["h100-80g"]
"""What a card has that is known by its size alone."""


def source_of(card: Card) -> str:
    """Where the figures of a named card's processor are from; empty for a card that is known by its size alone."""
    return f"NVIDIA's {_CHIPS[card.name].source} and CUDA programming guide" if card.name in _CHIPS else ""


def virtual_card(card: Card, devices: int = 1) -> VirtualCard:
    """The pretend card for a card that was asked for by name or by size.

    >>> from gapless.cards import find_card
    >>> virtual_card(find_card("t4")).capability
    75
    >>> virtual_card(find_card("24GiB")).context_bytes
    0
    """
    chip = _CHIPS.get(card.name)
    title = chip.title if chip else f"Pretend card of {card.name}"
    chip = chip or _BY_SIZE
    multiprocessor = _MULTIPROCESSORS[chip.capability]
    return VirtualCard(
        name=title,
        capacity_bytes=card.total_bytes,
        context_bytes=card.total_bytes - card.capacity_bytes,
        capability=chip.capability,
        multiprocessors=chip.multiprocessors,
        threads_per_multiprocessor=multiprocessor.threads,
        shared_per_multiprocessor_bytes=multiprocessor.shared_bytes,
        l2_bytes=chip.l2_bytes,
        devices=devices,
    )
