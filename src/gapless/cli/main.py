"""The program `gapless`: finds the command that is asked for, runs it, and turns every failure into one clear message.

A command is a module beside this one with `add_parser(subparsers)` and `run(args) -> int`; adding the file adds the
command. Only the module of the command that is asked for is imported, so that starting takes no time.

Exit status: 0 answered, 1 a check failed, 2 could not run, 130 interrupted, 141 the reader of the output went away.
"""

from __future__ import annotations

import difflib
import importlib
import os
import pkgutil
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

import gapless
from gapless.cli.failures import INTERRUPTED, READER_GONE, drop_output, ready_streams, report, say
from gapless.cli.parser import EXTRA, Parser, UsageError
from gapless.errors import GaplessError, InputError

# Numpy's BLAS starts a thread for each processor when it is loaded, which takes longer than all else that numpy does
# then. Gapless multiplies no matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_DESCRIPTION = "Why the GPU ran out of memory although memory looked free, and which fix works: proved by replay."
_EPILOG = "`gapless COMMAND --help` describes a command."


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    ready_streams()
    try:
        status = _answer(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
        return READER_GONE
    except OSError as error:
        drop_output()
        what = "the answer cannot be written" if error.filename is None else f"{error.filename} cannot be read"
        return report(InputError(f"{what}: {error.strerror}"), arguments)
    return status


def _answer(arguments: list[str]) -> int:
    try:
        if sys.stdout is None:
            raise InputError("standard output is closed, so the answer cannot be written")
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as asked:  # argparse ends the program after --help and --version
        return int(asked.code or 0)
    except GaplessError as error:
        return report(error, arguments)
    except MemoryError as error:
        hint = f"use a machine with more, or record fewer events (max_entries) ({error})"
        return report(InputError("the memory of this machine does not suffice", hint=hint), arguments)
    except OSError:
        raise
    except Exception:  # a mistake of ours must not look like an answer
        say(*traceback.format_exc().splitlines())
        hint = "please report it with the lines above and, if you can, the input"
        return report(GaplessError("this is a mistake in Gapless", hint=hint), arguments)


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
    args, extra = parser.parse_known_args(arguments)
    if extra:
        subparsers.choices.get(asked or "", parser).error(f"{EXTRA}{' '.join(extra)}")
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
