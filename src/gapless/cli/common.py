"""Options that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gapless.conf import Release
from gapless.errors import InputError

if TYPE_CHECKING:
    from gapless.recording import OpenOptions
    from gapless.recording.opening import Progress

FORMATS = ("text", "json")
_FAIL_ON = re.compile(r"error|warning|info|[A-Z]{2,5}\d{3}")
_RANKS = {"error": 0, "warning": 1, "info": 2}


def add_recording_options(
    parser: argparse.ArgumentParser, at: str = "default: the last failure, else the peak"
) -> None:
    """What the user knows better than the file; `at` says what --at is for where it is not given."""
    parser.add_argument("--device", type=int, metavar="N", help="one device only (default: all)")
    parser.add_argument("--torch", metavar="VERSION", help="PyTorch's version (default: told by the file)")
    parser.add_argument("--card", metavar="CARD", help="a card's name (h100-80g) or what PyTorch may reserve (24GiB)")
    parser.add_argument("--at", metavar="MOMENT", help=f"oom, oom:K, peak, end or event:N ({at})")


def open_options(args: argparse.Namespace, progress: Progress | None = None) -> OpenOptions:
    """How the file is opened."""
    from gapless.recording import OpenOptions  # noqa: PLC0415  (numpy is loaded only by commands that read)

    release = Release.parse(args.torch) if args.torch else None
    return OpenOptions(device=args.device, release=release, progress=progress)


def add_fail_on(parser: argparse.ArgumentParser) -> None:
    """Makes the command a check."""
    parser.add_argument(
        "--fail-on", metavar="WHAT", action="append", default=[], help="exit 1 on error, warning, info or a code"
    )


def fails(found: Iterable[tuple[str, str]], wanted: Sequence[str]) -> bool:
    """Whether one of the (code, severity) found is of a kind named by --fail-on."""
    return any(
        _RANKS[severity] <= _RANKS[what] if what in _RANKS else code == what
        for code, severity in found
        for what in wanted
    )


def check_fail_on(wanted: list[str]) -> None:
    """Complains of a kind that does not exist.

    Raises:
        InputError: It is neither a severity nor has the form of a code.
    """
    for what in wanted:
        if not _FAIL_ON.fullmatch(what):
            raise InputError(
                f"{what[:60]!r} is not known",
                hint="give error, warning, info or a code like FRAG201",
                where="--fail-on",
            )
