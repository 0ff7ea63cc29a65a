"""What a path names: a recording, a log, or a folder; everything else is refused with what it seems to be."""

from __future__ import annotations

import codecs
from enum import Enum
from pathlib import Path

from gapless.errors import FormatError
from gapless.sources import FORMATS
from gapless.sources.content import HEAD_BYTES, Content
from gapless.sources.guess import guess

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Kind(Enum):
    """What can be explained."""

    SNAPSHOT = "snapshot"
    LOG = "log"
    FOLDER = "folder"


def sniff(path: str) -> Kind:
    """What a path names, told by its first bytes.

    Raises:
        InputError: It cannot be read.
        FormatError: It is none of these.
    """
    if Path(path).is_dir():
        return Kind.FOLDER
    with Content(path) as content:
        head = content.head(HEAD_BYTES)
    if is_snapshot(head):
        return Kind.SNAPSHOT
    seems, instead = guess(head)
    # A log of one JSON object a line is text too. Programs that write UTF-16 mark it.
    if seems in {"text", "JSON"} or head.startswith(_UTF16):
        return Kind.LOG
    raise FormatError(f"{path} is {seems}, neither a memory snapshot nor a log", hint=instead)


def is_snapshot(head: bytes) -> bool:
    """Whether a reader of snapshots claims a file that begins so."""
    return any(known.matches(head) for known in FORMATS)
