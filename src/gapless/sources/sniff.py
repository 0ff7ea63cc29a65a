"""What a path names: a recording, a log, or a folder; everything else is refused with what it seems to be."""

from __future__ import annotations

import codecs
import os
from enum import Enum

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
    if os.path.isdir(path):  # not so an empty name, which Path takes for the current folder
        return Kind.FOLDER
    with Content(path) as content:
        head = content.head(HEAD_BYTES)
    if is_snapshot(head):
        return Kind.SNAPSHOT
    if is_log(head):
        return Kind.LOG
    seems, instead = guess(head)
    raise FormatError(f"{path} is {seems}, neither a memory snapshot nor a log", hint=instead)


def is_log(head: bytes) -> bool:
    """Whether a file that begins so can be a log: text, also one JSON object a line, also UTF-16 where it is marked."""
    return guess(head)[0] in {"text", "JSON"} or head.startswith(_UTF16)


def is_snapshot(head: bytes) -> bool:
    """Whether a reader of snapshots claims a file that begins so."""
    return any(known.matches(head) for known in FORMATS)
