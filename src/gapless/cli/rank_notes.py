"""What is said on stderr about the files of a folder: which are copies, which were left out, and what of others was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gapless.cli.failures import say
from gapless.report.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gapless.recording.choosing import Rest

_MOST_NAMED = 8


def say_copies(copies: Sequence[tuple[Path, Path]], *, redacted: bool) -> None:
    """Pairs of files that hold the same, of very many the first."""
    for path, twin in copies[:_MOST_NAMED]:
        say(f"gapless: {_name(path, redacted)} is a copy of {_name(twin, redacted)}")
    if len(copies) > _MOST_NAMED:
        say(f"gapless: {len(copies) - _MOST_NAMED:,} more files are copies of others")


def say_rest(path: Path, rest: Rest, *, redacted: bool) -> None:
    """Devices of a file that were not opened, if any."""
    if rest.devices:
        say(f"gapless: {_name(path, redacted)}: {rest}")


def say_left_out(left_out: Mapping[str, str], *, redacted: bool) -> None:
    """Files that could not be read, each with its reason, of very many the first."""
    redactor = Redactor(left_out) if redacted else None
    for path, message in list(left_out.items())[:_MOST_NAMED]:
        reason = redactor.error(message) if redactor else message
        say(f"gapless: left out {_name(Path(path), redacted)}: {reason}")
    if len(left_out) > _MOST_NAMED:
        say(f"gapless: left out {len(left_out) - _MOST_NAMED} more files")


def _name(path: Path, redacted: bool) -> str:
    return Redactor([]).path(str(path)) if redacted else path.name
