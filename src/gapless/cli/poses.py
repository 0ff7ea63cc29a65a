"""Which ranks of a large job `gapless run` poses as, from its options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gapless.errors import InputError
from gapless.virtual.posing import Pose

if TYPE_CHECKING:
    from collections.abc import Sequence

_GPUS_IN_A_MACHINE = 8
_MOST_RANKS = 64
_LAUNCHERS = {"torchrun", "accelerate", "deepspeed", "mpirun", "srun"}


def poses_of(gpus: int | None, world: int | None, ranks: str | None, command: Sequence[str]) -> tuple[int, list[Pose]]:
    """Cards that a process sees, and the ranks to pose as; none: the command is run as it is.

    Raises:
        InputError: A number is out of range, or the command would start the ranks itself.
    """
    if gpus is not None and gpus < 1:
        raise InputError("there must be a card at least", where="--gpus")
    if world is None:
        if ranks is not None:
            raise InputError("a rank needs the size of the job", hint="add --world N", where="--rank")
        return gpus or 1, []
    if world < 1:
        raise InputError("a job has a rank at least", where="--world")
    launcher = next((name for name in map(_name, command[:3]) if name in _LAUNCHERS), None)
    if launcher:
        raise InputError(
            f"{launcher} would start the ranks itself",
            hint="give the script alone: gapless sets RANK, WORLD_SIZE and LOCAL_RANK",
            where="--world",
        )
    gpus = gpus or min(_GPUS_IN_A_MACHINE, world)
    return gpus, [Pose(rank, world, gpus) for rank in _ranks("0" if ranks is None else ranks, world)]


def _name(word: str) -> str:
    return "torchrun" if word.startswith("torch.distributed.") else Path(word).name.partition(".")[0]


def _ranks(text: str, world: int) -> list[int]:
    """The ranks that a list names.

    >>> _ranks("0,63,255", 256)
    [0, 63, 255]
    """
    words = text.split(",")
    if not all(word.strip().isascii() and word.strip().isdecimal() for word in words):
        raise InputError(f"{text!r} is no list of ranks", hint="write them like 0,63,255", where="--rank")
    ranks = list(dict.fromkeys(int(word) for word in words))
    beyond = [rank for rank in ranks if rank >= world]
    if beyond:
        raise InputError(f"a job of {world} has ranks 0 to {world - 1}, and not {beyond[0]}", where="--rank")
    if len(ranks) > _MOST_RANKS:
        raise InputError(f"{len(ranks)} ranks are too many", hint=f"name {_MOST_RANKS} at most", where="--rank")
    return ranks
