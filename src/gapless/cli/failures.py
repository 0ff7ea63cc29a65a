"""How the program ends when it cannot answer: one message with its hint, and streams that are left in order."""

from __future__ import annotations

import itertools
import json
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gapless.errors import GaplessError

COULD_NOT_RUN, INTERRUPTED, READER_GONE = 2, 130, 141


def ready_streams() -> None:
    """Names of files need not be text that the terminal can show; a stream that is closed is None."""
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (as long as the program)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def drop_output() -> None:
    """What cannot be written any more, of which the interpreter would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report(error: GaplessError, arguments: Sequence[str] = ()) -> int:
    """One message and its hint: to stderr, and as JSON to stdout where the arguments ask for JSON."""
    from gapless.report.redact import Redactor  # noqa: PLC0415  (only failures need it)
    from gapless.report.terminal import printable  # noqa: PLC0415

    edit = Redactor(_paths(arguments, error.where) if "--redact" in arguments else []).text
    where, message, hint = edit(error.where), edit(error.message), edit(error.hint)
    place, _, inside = where.rpartition(", ")
    if place and message.startswith(inside):  # said already
        where = place
    lines = [f"gapless: {message}" if not where or where in message else f"gapless: {where}: {message}"]
    for line in [*lines, f"  {hint}"] if hint else lines:
        print(printable(line), file=sys.stderr)
    if _wants_json(arguments) and sys.stdout is not None:
        fields = {"code": error.code, "message": edit(error.message), "hint": hint, "where": edit(error.where)}
        print(json.dumps({"schema": "gapless.error/1", **fields}))
    return COULD_NOT_RUN


def _paths(arguments: Sequence[str], where: str) -> list[str]:
    """Of the arguments those that can be a path, also as --log=PATH; numbers and names of options are none."""
    given = [one.partition("=")[2] if one.startswith("--") else one for one in arguments[1:]]
    return [
        one
        for one in given
        if one == where or os.path.exists(one) or "/" in one or "\\" in one or ("." in one and not one[0].isdigit())
    ]


def _wants_json(arguments: Sequence[str]) -> bool:
    # Looked for by hand: the error may be that the command line cannot be parsed.
    return "--format=json" in arguments or ("--format", "json") in itertools.pairwise(arguments)
