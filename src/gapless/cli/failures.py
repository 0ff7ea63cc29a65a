"""How the program ends when it cannot answer: one message with its hint, and streams that are left in order."""

from __future__ import annotations

import itertools
import json
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from gapless.errors import GaplessError

_UNREAD = "unrecognized arguments: "
COULD_NOT_RUN, INTERRUPTED, READER_GONE = 2, 130, 141


def ready_streams() -> None:
    """Names of files need not be text that the terminal can show; a stream that is closed is None."""
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (as long as the program)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def drop_output(stream: TextIO | None = None) -> None:
    """What cannot be written any more (to stdout where no stream is given), of which the interpreter would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def say(*lines: str) -> None:
    """Lines on stderr, without what could steer a terminal; nothing where they cannot be written."""
    from gapless.report.terminal import printable  # noqa: PLC0415  (few runs say anything)

    try:
        for line in lines:
            print(printable(line), file=sys.stderr, flush=True)
    except OSError:  # the disk behind it is full: that must not change how the program ends
        drop_output(sys.stderr)


def report(error: GaplessError, arguments: Sequence[str] = ()) -> int:
    """One message and its hint: to stderr, and as JSON to stdout where the arguments ask for JSON."""
    edit = _redacting(arguments, error.where) if "--redact" in arguments else str
    where, message, hint = edit(error.where), edit(error.message), edit(error.hint)
    place, _, inside = where.rpartition(", ")
    if place and message.startswith(inside):  # said already
        where = place
    lines = [f"gapless: {message}" if not where or where in message else f"gapless: {where}: {message}"]
    say(*lines, *([f"  {hint}"] if hint else []))
    if _wants_json(arguments) and sys.stdout is not None:
        fields = {"code": error.code, "message": edit(error.message), "hint": hint, "where": edit(error.where)}
        _write_json({"schema": "gapless.error/1", **fields})
    return COULD_NOT_RUN


def _redacting(arguments: Sequence[str], where: str) -> Callable[[str], str]:
    from gapless.report.redact import Redactor  # noqa: PLC0415  (only failures need it)

    redactor = Redactor(_paths(arguments, where))

    def edit(text: str) -> str:
        known = text.removeprefix(_UNREAD)
        return redactor.error(text) if known == text else _UNREAD + redactor.path(known)  # may be names of files

    return edit


def _write_json(value: dict[str, str]) -> None:
    """Where it cannot be written, the complaint on stderr has to do."""
    try:
        print(json.dumps(value), flush=True)
    except OSError:
        drop_output()


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
