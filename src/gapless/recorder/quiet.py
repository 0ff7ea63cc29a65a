"""Nothing that goes wrong in here may reach the training: it becomes one line on stderr."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable


P = ParamSpec("P")
R = TypeVar("R")

_said: set[str] = set()


def say(text: str) -> None:
    """A line on stderr; nothing where it cannot be written."""
    try:
        print(f"gapless: {text}", file=sys.stderr, flush=True)
    except Exception:  # stderr is closed, or its disk is full
        return


def say_once(text: str) -> None:
    """The same; what was said before is not repeated, as a disk that is full stays so."""
    if text not in _said:
        _said.add(text)
        say(text)


def complain(error: BaseException, what: str) -> None:
    """What went wrong, in one line, once."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else f"{type(error).__name__}: {error}"
    say_once(f"{what}: {' '.join(reason.split())}; the program goes on")


def quietly(what: str) -> Callable[[Callable[P, R]], Callable[P, R | None]]:
    """Let a function return None where it would raise, and say so."""

    def wrap(function: Callable[P, R]) -> Callable[P, R | None]:
        @functools.wraps(function)
        def quiet(*args: Any, **kwargs: Any) -> R | None:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                complain(error, what)
                return None

        return quiet

    return wrap
