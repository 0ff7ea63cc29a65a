"""Options of the pretend card's driver and of NVIDIA's libraries: what they take beside PyTorch, which addresses."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.errors import InputError
from gapless.units import format_bytes, parse_bytes
from gapless.virtual.cards import ADDRESSES, VirtualCard, virtual_card
from gapless.virtual.control import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.cards import Card


def add_driver_options(parser: argparse.ArgumentParser) -> None:
    """What can be changed of them."""
    parser.add_argument("--context", metavar="SIZE", help="what the CUDA context takes (default: the card's)")
    parser.add_argument(
        "--charge",
        metavar="LIBRARY=SIZE",
        action="append",
        default=[],
        help="what a library takes beside PyTorch: nccl for each communicator, cudnn and cublas for each handle",
    )
    parser.add_argument(
        "--addresses",
        choices=ADDRESSES,
        default="ascending",
        help="how the driver chooses addresses; up to PyTorch 2.11 it matters a little (default: ascending)",
    )


def pretend_card(card: Card, gpus: int, args: argparse.Namespace) -> VirtualCard:
    """The card for a run, as the options want it."""
    return replace(virtual_card(card, gpus), addresses=args.addresses, charges=_charges(args.charge))


def _charges(texts: Sequence[str]) -> dict[str, int]:
    """Bytes by library.

    Raises:
        InputError: One is no LIBRARY=SIZE.
    """
    charges = {}
    for text in texts:
        name, equals, size = text.partition("=")
        if not equals or name not in LIBRARIES:
            hint = f"write nccl=400MiB; libraries: {', '.join(LIBRARIES)}"
            raise InputError(f"{text[:80]!r} is not LIBRARY=SIZE", hint=hint, where="--charge")
        charges[name] = parse_bytes(size, "--charge")
    return charges


def with_context(card: Card, text: str | None) -> Card:
    """The same card with the context that --context says.

    Raises:
        InputError: Nothing is left beside it.
    """
    if text is None:
        return card
    context_bytes = parse_bytes(text, "--context")
    if context_bytes >= card.total_bytes:
        raise InputError(f"a context of {format_bytes(context_bytes)} leaves nothing of the card", where="--context")
    return replace(card, capacity_bytes=card.total_bytes - context_bytes)
