"""Running a command on the pretend card, and gathering what its processes left."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapless.user_command import wait
from gapless.virtual.cards import VirtualCard
from gapless.virtual.installation import TorchBuild, find_torch
from gapless.virtual.plan import Plan
from gapless.virtual.posing import Pose

_NO_RANDOM_ADDRESSES = 0x0040000
"""ADDR_NO_RANDOMIZE of Linux's personality(2)."""
_STARTUP = Path(__file__).parent / "startup"


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    """Of the command; negative as for subprocess: killed by that signal."""
    processes: list[dict[str, Any]]
    """What each process that used the card left, in order of rank."""
    torch: TorchBuild

    @property
    def ran_out(self) -> bool:
        """Whether the command failed, and a process of it because it was out of memory."""
        return self.status != 0 and any((p["failure"] or {}).get("type") == "OutOfMemoryError" for p in self.processes)


def run(
    command: Sequence[str],
    card: VirtualCard,
    folder: Path,
    *,
    env: Mapping[str, str] | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    **plan: Any,
) -> Ended:
    """Run a command on the card; its output goes where ours goes.

    Args:
        command: What to run, as for subprocess.
        card: The card, and how many of them.
        folder: An empty folder for what the processes leave.
        env: The environment; by default that of this process.
        stdout: A file descriptor for what the command prints; by default ours.
        stderr: The same for its errors.
        plan: Further members of `Plan`.
    """
    torch = find_torch()
    link_driver(torch, folder)
    saved = Plan(str(folder), [str(path) for path in torch.libraries], **plan).save()
    process = subprocess.Popen(
        command,
        stdout=stdout,
        stderr=stderr,
        env=environment_of(env or os.environ, card, torch, folder, saved),
        preexec_fn=_keep_addresses,  # noqa: PLW1509  (calls one system call, and runs while we have no threads)
    )
    status = wait(process)
    return Ended(status, sorted(_left(folder), key=lambda one: (one["rank"] or 0, one["pid"])), torch)


def run_as(
    poses: Sequence[Pose],
    command: Sequence[str],
    card: VirtualCard,
    folder: Path,
    *,
    env: Mapping[str, str],
    **more: Any,
) -> Ended:
    """Run a command once for each rank that it shall pose as, one after the other; once as it is where there is none.

    A rank that fails ends the rest, as it would end the job. Arguments as for `run`.
    """
    if not poses:
        return run(command, card, folder, env=env, **more)
    processes: list[dict[str, Any]] = []
    for pose in poses:
        own = folder / f"rank{pose.rank}"
        own.mkdir()
        ended = run(command, card, own, env={**env, **pose.variables}, world=pose.world, **more)
        processes += ended.processes
        if ended.status != 0:
            break
    return Ended(ended.status, processes, ended.torch)


def environment_of(
    env: Mapping[str, str], card: VirtualCard, torch: TorchBuild, folder: Path, plan: Path
) -> dict[str, str]:
    """What a process on the card needs, and its children, beside an environment; what is there stays."""
    paths = [str(_STARTUP), *filter(None, [env.get("PYTHONPATH")])]
    return {
        "PYTHONHASHSEED": "0",  # with `_keep_addresses`: the same script leaves the same trace
        **env,
        "PYTHONPATH": os.pathsep.join(paths),
        "GAPLESS_VIRTUAL": str(plan),
        "GAPLESS_CARD": card.settings_text(torch),
        "TRITON_LIBCUDA_PATH": str(folder),
        # A card that shows in no system tool must not be hidden by what the machine's own cards are.
        "CUDA_VISIBLE_DEVICES": ",".join(map(str, range(card.devices))),
    }


def _keep_addresses() -> None:
    """No random addresses in the new process: PyTorch frees some caches in the order of addresses on the host, so that
    the same script would leave another trace each time. Where the system does not allow it, it will.
    """
    ctypes.CDLL(None).personality(_NO_RANDOM_ADDRESSES)


def link_driver(torch: TorchBuild, folder: Path) -> None:
    """Triton links with the driver by its name without a number."""
    driver = next(path for path in torch.libraries if path.name == "libcuda.so.1")
    for name in ("libcuda.so", "libcuda.so.1"):
        (folder / name).symlink_to(driver)


def _left(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("process-*.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        snapshot = report["snapshot"]
        yield {**report, "snapshot": None if snapshot is None else str(folder / snapshot)}
