"""The pickle that ``torch.cuda.memory._dump_snapshot`` writes. Its decoder (core/snapshot) runs no code of the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gapless import _core

if TYPE_CHECKING:
    from gapless.sources.content import Content

NAME = "PyTorch memory snapshot"

_TEXT_PROTOCOLS = (b"(dp", b"(lp", b"}q", b"]q")
# Protocol 0 names what it would call in two lines: a pickle that begins so is refused for it by name.
_TEXT_CALL = re.compile(rb"\(?[ci][A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n[(.]")
_TENSORS = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"  # what torch.save wrote before 1.6


def matches(head: bytes) -> bool:
    """Whether the bytes begin a pickle of protocol 0 to 5."""
    is_binary = len(head) > 1 and head[0] == 0x80 and 2 <= head[1] <= 5
    is_text = head.startswith(_TEXT_PROTOCOLS) or _TEXT_CALL.match(head) is not None
    return (is_binary and not head.startswith(_TENSORS)) or is_text


def read(content: Content) -> _core.Snapshot:
    """The snapshot in a pickle."""
    return _core.read_snapshot_stream(content, content.size)
