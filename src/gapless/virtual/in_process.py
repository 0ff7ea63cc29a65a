"""The pretend card under this very process: for notebooks, tests and tools."""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gapless.cards import find_card
from gapless.errors import InputError
from gapless.recording import open_recordings
from gapless.virtual import inside
from gapless.virtual.cards import VirtualCard, virtual_card
from gapless.virtual.installation import find_torch
from gapless.virtual.launch import environment_of, link_driver
from gapless.virtual.plan import Plan

if TYPE_CHECKING:
    from gapless.recording import Recording


@dataclass(frozen=True)
class PretendCard:
    """The card that PyTorch of this process finds."""

    name: str
    capacity_bytes: int
    """What PyTorch may reserve."""
    folder: Path
    """Of what belongs to it; goes when the process ends."""

    def allocated_bytes_peak(self, device: int = 0) -> int:
        """The most that was allocated, in bytes, since the start or `reset_peaks`."""
        return int(_torch().cuda.max_memory_allocated(device))

    def reserved_bytes_peak(self, device: int = 0) -> int:
        """The most that was reserved, in bytes, since the start or `reset_peaks`."""
        return int(_torch().cuda.max_memory_reserved(device))

    def reset_peaks(self, device: int = 0) -> None:
        """Peaks count from here on; what is allocated stays."""
        _torch().cuda.reset_peak_memory_stats(device)

    def recording(self, device: int = 0) -> Recording:
        """What happened so far, as `gapless.explain.explain` and `gapless.tune.tune` take it.

        Raises:
            InputError: No tensor was ever on the device.
        """
        path = self.folder / "so_far.pickle"
        path.write_bytes(pickle.dumps(_torch().cuda.memory._snapshot(), protocol=4))
        found = [one for one in open_recordings(str(path)) if one.device == device]
        if not found:
            raise InputError(f"nothing was recorded on device {device}: no tensor was ever there")
        return found[0]


_in_force: list[tuple[VirtualCard, PretendCard]] = []
"""The card of this process, once there is one: libraries that are loaded stay."""


def card(
    name: str,
    *,
    gpus: int = 1,
    conf: str | None = None,
    addresses: str = "ascending",
    small_values: bool = True,
    selected: float = 0.5,
) -> PretendCard:
    """Put a pretend card under PyTorch of this process. Comes before `import torch`.

    Args:
        name: A card by name or by size, as for `gapless run --card`.
        gpus: How many of them.
        conf: Settings of PyTorch's allocator, instead of those in the environment.
        addresses: How its driver chooses addresses.
        small_values: Whether operators on small tensors are computed.
        selected: The part of a large mask that is taken for selected.

    Raises:
        InputError: PyTorch is imported already, another card is in force, or PyTorch cannot run on one.

    >>> card("24GiB").capacity_bytes // 2**30  # doctest: +SKIP
    24
    """
    known = find_card(name)
    wanted = replace(virtual_card(known, gpus), addresses=addresses)
    for there, found in _in_force:
        if there == wanted:
            return found
        raise InputError(f"this process runs on {found.name} already", hint="one process has one kind of card")
    is_there = "GAPLESS_VIRTUAL" in os.environ  # in a child of such a process, or of `gapless run`
    if "torch" in sys.modules and not is_there:
        raise InputError("PyTorch is imported already", hint="call gapless.virtual.card() before import torch")
    torch = find_torch()
    if is_there and os.environ.get("GAPLESS_CARD") != wanted.settings_text(torch):
        raise InputError("this process runs on another pretend card already", hint="leave one of the two out")
    folder = Path(tempfile.mkdtemp(prefix="gapless-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = PretendCard(known.name, known.capacity_bytes, folder)
    _in_force.append((wanted, made))
    if is_there:
        return made
    link_driver(torch, folder)
    plan = Plan(
        str(folder), [str(path) for path in torch.libraries], small_values=small_values, selected=selected
    ).save()
    os.environ.update(environment_of(os.environ, wanted, torch, folder, plan))
    if conf is not None:
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = os.environ["PYTORCH_ALLOC_CONF"] = conf
    inside.prepare(str(plan))
    return made


def _torch() -> Any:
    import torch  # noqa: PLC0415  (it is imported after the card is there)

    return torch
