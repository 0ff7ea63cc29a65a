"""The parser of every command: its complaints are errors like all others, and name the option that was meant."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from typing import Any, NoReturn

from gapless.errors import GaplessError

EXTRA = "unrecognized arguments: "
"""Argparse's words for what no option takes."""
_MOST_CHARS = 300
"""Of a complaint that repeats what was written."""


class UsageError(GaplessError):
    """The command line is wrong."""

    code = "usage"


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors of Gapless, so that all failures look alike. Options are written in full."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Raises instead of exiting."""
        hint = f"{self.prog} --help describes what it takes"
        extra = message.removeprefix(EXTRA).split() if message.startswith(EXTRA) else []
        if any(map(os.path.exists, extra)):
            hint = "give one file; ranks of a job go into one folder, for gapless explain FOLDER"
        near = next(filter(None, map(self._nearest, extra)), "")
        hint = f"did you mean {near}? {hint}" if near else hint
        message = message if len(message) <= _MOST_CHARS else message[:_MOST_CHARS] + "..."
        raise UsageError(message, hint=hint)

    def _nearest(self, written: str) -> str:
        """The option that is most like one that there is not; empty when none is, or no option was written."""
        if not written.startswith("-"):
            return ""
        known = [name[2:] for name in self._option_string_actions if name.startswith("--")]
        name = written.partition("=")[0].lstrip("-")[:_MOST_CHARS].lower()
        return next((f"--{like}" for like in difflib.get_close_matches(name, known, n=1)), "")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Argparse itself would pass over what cannot be written."""
        (file or sys.stdout).write(message)
