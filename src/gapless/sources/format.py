"""What a module of a format offers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gapless._core import Snapshot
    from gapless.sources.content import Content


class Format(Protocol):
    """A format of recordings."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """What a person calls the format."""

    def matches(self, head: bytes) -> bool:
        """Whether a file that begins with ``head``, unpacked, is of this format."""

    def read(self, content: Content) -> Snapshot:
        """The snapshot in a file, of which nothing was read yet."""
