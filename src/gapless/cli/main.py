"""The program `gapless`: finds the command that is asked for, runs it, and turns every failure into one clear message.

A command is a module beside this one with `add_parser(subparsers)` and `run(args) -> int`; adding the file adds the
command. Only the module of the command that is asked for is imported, so that starting takes no time.

Exit status: 0 answered, 1 a check failed, 2 could not run, 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import itertools
import json
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

import gapless
from gapless.errors import GaplessError

# Numpy's BLAS starts a thread for each processor when it is loaded, which takes longer than all else that numpy does
# then. Gapless multiplies no matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

COULD_NOT_RUN, INTERRUPTED, READER_GONE = 2, 130, 141
_DESCRIPTION = "Why the GPU ran out of memory although memory looked free, and which fix works: proved by replay."
_EPILOG = "`gapless COMMAND --help` describes a command."


class UsageError(GaplessError):
    """The command line is wrong."""

    code = "usage"


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors of Gapless, so that all failures look alike."""

    def error(self, message: str) -> NoReturn:
        """Raises instead of exiting."""
        raise UsageError(message, hint=f"{self.prog} --help describes what it takes")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # names of files need not be text that the terminal can show
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the interpreter complains at its end
        return READER_GONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except GaplessError as error:
        return _report(error, arguments)
    except Exception:  # a mistake of ours must not look like an answer
        traceback.print_exc()
        hint = "please report it with the lines above and, if you can, the input"
        return _report(GaplessError("this is a mistake in Gapless", hint=hint), arguments)
    return status


def commands() -> list[str]:
    """The names of the modules beside this one, among which the commands are."""
    here = importlib.import_module("gapless.cli")
    return sorted(module.name for module in pkgutil.iter_modules(here.__path__) if module.name != "main")


def _run(arguments: list[str]) -> int:
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    parser = Parser(prog="gapless", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"gapless {gapless.__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", dest="command", parser_class=Parser)
    modules = _modules(asked)
    for module in modules.values():
        module.add_parser(subparsers)
    if asked is not None and asked not in modules:
        raise _unknown(asked)
    args = parser.parse_args(arguments)
    if args.command is None:
        parser.print_help()
        return 0
    return int(modules[args.command].run(args))


def _modules(asked: str | None) -> dict[str, ModuleType]:
    """The module of the command that is asked for; all of them when none is."""
    names = commands()
    wanted = [asked] if asked in names else [] if asked else names
    modules = {str(name): importlib.import_module(f"gapless.cli.{name}") for name in wanted}
    return {name: module for name, module in modules.items() if hasattr(module, "add_parser")}


def _unknown(asked: str) -> UsageError:
    known = list(_modules(None))
    like = difflib.get_close_matches(asked, known, n=1)
    if like:
        hint = f"did you mean gapless {like[0]}?"
    elif os.path.exists(asked):
        hint = f"did you mean gapless explain {asked}?"
    else:
        hint = f"commands: {', '.join(known)}"
    return UsageError(f"there is no command {asked[:60]!r}", hint=hint)


def _report(error: GaplessError, arguments: list[str]) -> int:
    """One message and its hint: to stderr, and as JSON to stdout where JSON is asked for."""
    is_said = not error.where or error.where in error.message
    lines = [f"gapless: {error.message}" if is_said else f"gapless: {error.where}: {error.message}"]
    print("\n".join([*lines, f"  {error.hint}"] if error.hint else lines), file=sys.stderr)
    if _wants_json(arguments):
        fields = {"code": error.code, "message": error.message, "hint": error.hint, "where": error.where}
        print(json.dumps({"schema": "gapless.error/1", **fields}))
    return COULD_NOT_RUN


def _wants_json(arguments: list[str]) -> bool:
    # Looked for by hand: the error may be that the command line cannot be parsed.
    return "--format=json" in arguments or ("--format", "json") in itertools.pairwise(arguments)
