"""What a file that is no recording seems to be, and what to give in its place."""

from __future__ import annotations

import codecs
import re

_SNAPSHOT = "give the file that torch.cuda.memory._dump_snapshot() wrote"
_UNPACK = "unpack it first, or pack it with gzip, which is read as it is"
BINARY, ZEROS = "binary data of no kind known here", "all zeros where it begins"
UNKNOWN = (BINARY, ZEROS)
"""What nothing more is known of."""
_LISTS = re.compile(r'"(?:device_traces|segments)"\s*:\s*\[')
"""In a snapshot; other files count segments."""
_MAGIC = (
    (b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46", "tensors or a model saved with torch.save", _SNAPSHOT),
    (b"version https://git-lfs", "a pointer of Git LFS", "fetch the file itself with 'git lfs pull'"),
    (b"\x89PNG", "a PNG image", _SNAPSHOT),
    (b"\xff\xd8\xff", "a JPEG image", _SNAPSHOT),
    (b"GIF8", "a GIF image", _SNAPSHOT),
    (b"%PDF", "a PDF document", _SNAPSHOT),
    (b"\x7fELF", "a program or a library", _SNAPSHOT),
    (b"\x93NUMPY", "a numpy array", _SNAPSHOT),
    (b"\x89HDF", "an HDF5 file", _SNAPSHOT),
    (b"SQLite format 3", "an SQLite database", _SNAPSHOT),
    (b"PAR1", "a Parquet file", _SNAPSHOT),
    (b"RIFF", "sound or pictures", _SNAPSHOT),
    (b"MZ\x90\0", "a program or a library", _SNAPSHOT),
    (b"7z\xbc\xaf\x27\x1c", "packed with 7-Zip", _UNPACK),
    (b"Rar!\x1a\x07", "packed with RAR", _UNPACK),
    (b"\x1f\x8b", "packed with gzip", "unpack it first, once more than was done"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", _UNPACK),
    (b"\xfd7zXZ", "packed with xz", _UNPACK),
    (b"BZh", "packed with bzip2", _UNPACK),
    (b"\x04\x22\x4d\x18", "packed with lz4", _UNPACK),
)


def guess(head: bytes) -> tuple[str, str]:
    """What the bytes at the front of a file seem to be, and what to do instead."""
    if not head:
        return "empty", "record it again"
    for magic, name, instead in _MAGIC:
        if head.startswith(magic):
            return name, instead
    if head.startswith(b"PK\x03\x04"):
        is_checkpoint = b"data.pkl" in head
        return "tensors or a model saved with torch.save" if is_checkpoint else "a zip archive", _SNAPSHOT
    if head[257:262] == b"ustar":
        return "a tar archive", "unpack it first, and give a file or the folder"
    if head[8:10] == b'{"' and head[7:8] == b"\0":
        return "a safetensors file", _SNAPSHOT
    if not head.strip(b"\0"):
        return ZEROS, "copy or record it again"
    return _guess_text(head)


def _guess_text(head: bytes) -> tuple[str, str]:
    """As `guess`, for what may be text."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError:
        return BINARY, _SNAPSHOT
    if any(c < " " and c not in "\t\n\v\f\r\b\x1b" for c in text):
        return BINARY, _SNAPSHOT
    if text.lstrip().startswith("{") and _LISTS.search(text):
        return "a memory snapshot turned into JSON", _SNAPSHOT
    if text.lstrip().startswith(("{", "[")):
        kind = "a profiler trace (JSON)" if '"traceEvents"' in text or '"schemaVersion"' in text else "JSON"
        return kind, _SNAPSHOT
    return "text", _SNAPSHOT
