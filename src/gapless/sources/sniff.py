"""What a path names: a recording, a log, or a folder; everything else is refused with what it seems to be."""

from __future__ import annotations

import os
from enum import Enum

from gapless.errors import FormatError
from gapless.sources import FORMATS
from gapless.sources.content import HEAD_BYTES, Content
from gapless.sources.encoding import is_text
from gapless.sources.guess import ZEROS, guess

HOLE_MAX_BYTES = 1 << 30
"""Size of a log that begins with zeros up to which what stands behind them is looked for."""


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
        if guess(head)[0] == ZEROS:
            head = _behind_zeros(content) or head
    if is_snapshot(head):
        return Kind.SNAPSHOT
    if is_log(head):
        return Kind.LOG
    seems, instead = guess(head)
    raise FormatError(f"{path} is {seems}, neither a memory snapshot nor a log", hint=instead)


def _behind_zeros(content: Content) -> bytes:
    """The beginning of what stands behind a hole, as rotating a log leaves one; nothing behind a very large hole."""
    if content.size is not None and content.size > HOLE_MAX_BYTES:
        return b""
    piece = memoryview(bytearray(1 << 20))
    for _ in range(HOLE_MAX_BYTES // len(piece)):
        count = content.readinto(piece)
        text = bytes(piece[:count]).lstrip(b"\0")
        if text or not count:
            return text[:HEAD_BYTES]
    return b""


def is_log(head: bytes) -> bool:
    """Whether a file that begins so can be a log: text, also one JSON object a line, in UTF-16, or damaged."""
    return is_text(head)


def is_snapshot(head: bytes) -> bool:
    """Whether a reader of snapshots claims a file that begins so."""
    return any(known.matches(head) for known in FORMATS)
