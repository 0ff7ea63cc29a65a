"""The files that one process leaves: their names, and writing them so that nobody sees half of one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CAPSULE, STEPS, SNAPSHOT = ".capsule.json", ".steps.jsonl", ".pickle"
_RANK = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")
_MOST_TRIES = 10_000


def rank_in(environment: Mapping[str, str]) -> int | None:
    """The rank that a launcher gave this process.

    >>> rank_in({"RANK": "3"}), rank_in({})
    (3, None)
    """
    given = (environment.get(name, "") for name in _RANK)
    return next((int(text) for text in given if text.isdigit()), None)


def stem_of(environment: Mapping[str, str], pid: int) -> str:
    """What names of this process's files begin with.

    >>> stem_of({"RANK": "3", "TORCHELASTIC_RESTART_COUNT": "1"}, 7), stem_of({}, 7)
    ('rank3-restart1', 'process7')
    """
    rank = rank_in(environment)
    if rank is None:
        return f"process{pid}"
    restarts = environment.get("TORCHELASTIC_RESTART_COUNT", "0")
    return f"rank{rank}" if restarts == "0" else f"rank{rank}-restart{restarts}"


class Files:
    """The names of one process; no name of an earlier run is taken again.

    Raises:
        OSError: The folder cannot be made or written to.
    """

    def __init__(self, folder: str, stem: str) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        for number in range(1, _MOST_TRIES):
            self.stem = stem if number == 1 else f"{stem}-run{number}"
            try:
                os.close(os.open(self.path(STEPS), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
                return
            except FileExistsError:
                continue
        raise FileExistsError(f"{folder} holds {_MOST_TRIES:,} recordings of {stem}")

    def path(self, ending: str) -> Path:
        """One of the files."""
        return self.folder / (self.stem + ending)

    @contextmanager
    def written(self, ending: str) -> Iterator[IO[bytes]]:
        """A file that has its name when it is whole, and is not there otherwise."""
        unfinished = self.folder / f".{self.stem}{ending}.part{os.getpid()}"  # hidden ones are not explained
        try:
            with unfinished.open("wb") as file:
                yield file
            unfinished.replace(self.path(ending))
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
