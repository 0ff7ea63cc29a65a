"""PyTorch releases, as far as the allocator's settings differ between them: 2.0 to 2.14."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gapless.errors import ConfError

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?!\d)[\w.+-]*", re.ASCII)
_SHOWN_CHARS = 40


@dataclass(frozen=True, order=True)
class Release:
    """A minor release of PyTorch; releases compare by age.

    >>> Release.parse("2.9.1+cu126") < Release.parse("2.10")
    True
    """

    major: int
    minor: int
    note: str = field(default="", compare=False)
    """What was assumed when the release was read; empty when nothing was."""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @classmethod
    def parse(cls, text: str) -> Release:
        """The release of a version such as ``2.9``, ``2.9.1`` or ``2.9.1+cu126``.

        A version newer than the newest known one is read as that one, and the result's note says so.

        Raises:
            ConfError: The text is not a version, or the version is older than 2.0.
        """
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise ConfError(
                f"{text[:_SHOWN_CHARS]!r} is not a PyTorch version",
                hint="write it like 2.9 or 2.9.1+cu126; `python -c 'import torch; print(torch.__version__)'` prints it",
            )
        found = cls(int(match[1]), int(match[2]))
        if found < OLDEST:
            raise ConfError(
                f"PyTorch {found} is older than {OLDEST}, the oldest release whose settings are known here",
                hint=f"give a release from {OLDEST} to {NEWEST}",
            )
        if found > NEWEST:
            return cls(NEWEST.major, NEWEST.minor, f"PyTorch {found} is not known yet; it is read as {NEWEST}")
        return found


OLDEST, NEWEST = Release(2, 0), Release(2, 14)
RELEASES = tuple(Release(2, minor) for minor in range(OLDEST.minor, NEWEST.minor + 1))
"""Every known release, oldest first."""
CHECKED = tuple(release for release in RELEASES if release >= Release(2, 1))
"""The releases whose reading was compared with the real libraries."""


def describe(releases: tuple[Release, ...]) -> str:
    """Releases for people, runs joined: ``2.1 to 2.9, 2.11``.

    >>> describe((Release(2, 1), Release(2, 2), Release(2, 4)))
    '2.1 to 2.2, 2.4'
    """
    runs: list[list[Release]] = []
    for release in releases:
        if runs and (release.major, release.minor - 1) == (runs[-1][-1].major, runs[-1][-1].minor):
            runs[-1].append(release)
        else:
            runs.append([release])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
