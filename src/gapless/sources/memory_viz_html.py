"""The page that ``torch.cuda._memory_viz`` writes (``trace_plot``, ``segment_plot``): the pickle stands in it whole.

The page's script holds ``local_files = [{"name": "snapshot.pickle", "base64": "..."}]``, with NUL bytes behind the
pickle. Nothing else of the page is read.
"""

from __future__ import annotations

import binascii
import re
from codecs import BOM_UTF8
from typing import TYPE_CHECKING

from gapless import _core
from gapless.errors import FormatError
from gapless.sources.content import HEAD_BYTES
from gapless.sources.encoding import encoding_of

if TYPE_CHECKING:
    from gapless.sources.content import Content

NAME = "page of PyTorch's memory_viz"

_PAGE = re.compile(rb"\s*(<!doctype html|<html|<script)", re.IGNORECASE)
_PICKLE = re.compile(rb'"base64"\s*:\s*"([A-Za-z0-9+/=]*)"')
_DRAWING = b"let alloc_data ="  # 2.0 wrote what to draw, and no pickle
_GIVE = "give the pickle that torch.cuda.memory._dump_snapshot() wrote, or a page made from one snapshot"


def matches(head: bytes) -> bool:
    """Whether the bytes begin an HTML page."""
    return _PAGE.match(_as_utf8(head)) is not None


def read(content: Content) -> _core.Snapshot:
    """The snapshot that the page shows.

    Raises:
        FormatError: The page holds none, several, or a damaged one.
    """
    page = _as_utf8(content.whole())
    pickles = [match.span(1) for match in _PICKLE.finditer(page)]
    if not pickles and _DRAWING in page:
        raise FormatError("the page is of PyTorch 2.0 and holds the drawing alone, not the recording", hint=_GIVE)
    if not pickles:
        raise FormatError("the page holds no memory snapshot", hint=_GIVE)
    if len(pickles) > 1:
        raise FormatError(f"the page holds {len(pickles)} memory snapshots; one can be read at a time", hint=_GIVE)
    begin, end = pickles[0]
    try:
        pickle = binascii.a2b_base64(memoryview(page)[begin:end])
    except binascii.Error as error:
        raise FormatError(f"the snapshot in the page is damaged: {error}", offset=begin, hint=_GIVE) from error
    return _core.read_snapshot(pickle)


def _as_utf8(page: bytes | bytearray) -> bytes | bytearray:
    """A page that an editor or a shell wrote anew, as UTF-8 without a mark; any other as it is."""
    encoding = encoding_of(bytes(page[:HEAD_BYTES]))
    if encoding is None:
        return page[len(BOM_UTF8) :] if page.startswith(BOM_UTF8) else page
    return page[encoding[1] :].decode(encoding[0], "replace").encode()
