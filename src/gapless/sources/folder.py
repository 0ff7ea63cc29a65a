"""The files of a folder that can be those of a job's ranks; what is no such folder is refused before it is read."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from gapless.errors import InputError
from gapless.recorder.files import STEPS

FILES_MAX = 20_000
"""Files of one folder that are looked at."""
_MOUNTS = Path("/proc/self/mountinfo")
_OF_THE_KERNEL = frozenset(
    {"autofs", "binfmt_misc", "bpf", "cgroup", "cgroup2", "configfs", "debugfs", "devpts", "efivarfs", "fusectl"}
    | {"mqueue", "nsfs", "proc", "pstore", "securityfs", "selinuxfs", "sysfs", "tracefs"}
)
_GIVE = "give the folder with the file of each rank"
_HEAD_BYTES, _PIECE_BYTES = 1 << 14, 1 << 20


def files_in(folder: str) -> list[Path]:
    """The files of a folder by name, but for hidden ones and the rows of steps that the recorder leaves.

    Raises:
        InputError: The folder cannot be read, is the kernel's, or holds more files than any job has.
    """
    try:
        kind = _kernels(folder)
        if kind:
            raise InputError(f"{folder} shows the kernel's own state ({kind}), not a job's files", hint=_GIVE)
        names = (
            path for path in Path(folder).iterdir() if not path.name.startswith(".") and not path.name.endswith(STEPS)
        )
        entries = (path for path in names if path.is_file())
        found = sorted(itertools.islice(entries, FILES_MAX + 1))
    except OSError as error:
        raise InputError(f"{folder} cannot be read: {error.strerror}", where=folder) from error
    if len(found) > FILES_MAX:
        raise InputError(f"{folder} holds more than {FILES_MAX:,} files", hint=_GIVE)
    return found


def _kernels(folder: str) -> str:
    """The kind of the file system where the kernel makes up what a folder holds; empty for all others."""
    device = os.stat(folder).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        mounts = _MOUNTS.read_text(errors="replace").splitlines()
    except OSError:  # not Linux: no such file systems are known there
        return ""
    kinds = {line.partition(" - ")[2].split(" ")[0] for line in mounts if line.split(" ")[2:3] == [number]}
    return next(iter(kinds & _OF_THE_KERNEL), "")


class Twins:
    """Finds files that hold the same, as no two ranks write; those of other sizes or beginnings are not read whole."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bytes], list[Path]] = {}

    def twin_of(self, path: Path) -> Path | None:
        """An earlier file that holds the same; None for the first of its kind."""
        with path.open("rb") as file:
            alike = self._known.setdefault((path.stat().st_size, file.read(_HEAD_BYTES)), [])
        twin = next((other for other in alike if _are_equal(path, other)), None)
        if twin is None:
            alike.append(path)
        return twin


def _are_equal(path: Path, other: Path) -> bool:
    with path.open("rb") as mine, other.open("rb") as its:
        while piece := mine.read(_PIECE_BYTES):
            if piece != its.read(_PIECE_BYTES):
                return False
    return True
