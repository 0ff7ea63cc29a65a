"""The option --fail-on, which makes a command a check."""

from __future__ import annotations

import argparse
from collections.abc import Container, Iterable, Sequence

from gapless.errors import InputError

_RANKS = {"error": 0, "warning": 1, "info": 2}


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


def wanted_failures(given: Sequence[str], codes: Container[str]) -> list[str]:
    """What --fail-on names, however it is capitalised: severities in small letters, codes in capitals.

    Raises:
        InputError: It is neither a severity nor one of the codes.

    >>> wanted_failures(["Error", "frag201"], {"FRAG201"})
    ['error', 'FRAG201']
    """
    found = []
    for what in given:
        if what.lower() not in _RANKS and what.upper() not in codes:
            hint = "give error, warning, info or a code; `gapless rule` lists all"
            raise InputError(f"{what[:60]!r} is not known", hint=hint, where="--fail-on")
        found.append(what.lower() if what.lower() in _RANKS else what.upper())
    return found
