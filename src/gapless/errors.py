"""The errors that Gapless raises, each with the numbers a caller needs.

    GaplessError
    |-- InputError            a file, log or argument cannot be used
    |   |-- FormatError       the bytes are not a recording, or are cut, corrupt or hostile
    |   `-- TraceError        a recording contradicts itself
    `-- ConfError             a settings string is wrong

An out-of-memory failure is a result of a replay, never an exception. A message says what happened, the numbers,
and what to do; `hint` holds the last part where it is a line of its own.
"""

from __future__ import annotations


class GaplessError(Exception):
    """Base of all errors of Gapless.

    Args:
        message: What happened, with the numbers.
        hint: What to do about it; empty when nothing can be said.
        where: The file, option, byte offset or path inside the file that it is about.
    """

    code = "error"

    def __init__(self, message: str, *, hint: str = "", where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where


class InputError(GaplessError):
    """A file, log or argument that cannot be used."""

    code = "input"


class FormatError(InputError):
    """Bytes that are not a recording, or a recording that is cut, corrupt or hostile.

    Args:
        message: What happened, with the numbers.
        offset: Byte offset in the decompressed input; -1 when unknown.
        path: Path inside the recording, like ``device_traces[0][1841].size``; empty when unknown.
        hint: What to do about it.
    """

    code = "format"

    def __init__(self, message: str, *, offset: int = -1, path: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint, where=path)
        self.offset = offset
        self.path = path


class TraceError(InputError):
    """A recording that contradicts itself.

    Args:
        message: What happened, with the numbers.
        event: 0-based event of the device; -1 when it is not about one event.
    """

    code = "trace"

    def __init__(self, message: str, *, event: int = -1, hint: str = "") -> None:
        super().__init__(message, hint=hint, where=f"event {event}" if event >= 0 else "")
        self.event = event


class ConfError(GaplessError):
    """A settings string (PYTORCH_CUDA_ALLOC_CONF) that is wrong."""

    code = "conf"
