"""One run of the script on one card, and what came of it."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gapless.errors import InputError
from gapless.explain import ExplainOptions, explain
from gapless.recording import open_recordings
from gapless.units import GIB
from gapless.user_command import command_of
from gapless.virtual import launch
from gapless.virtual.cards import virtual_card

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gapless.cards import Card
    from gapless.explain import Explanation
    from gapless.recording import Recording

ENDLESS_BYTES = 1024 * GIB
"""A card on which a run ends for want of nothing."""
_SHOWN_LINES = 12
_TIES_BY_ADDRESS = (2, 11)
"""The last release whose allocator breaks ties by address: with it the driver's addresses matter."""


class Outcome(str, Enum):
    """How a run ended, as far as memory goes."""

    FITS = "fits"
    OUT_OF_MEMORY = "out_of_memory"


@dataclass(frozen=True, eq=False)
class Ran:
    """A run: the worst of its devices, and of the orders of addresses that were tried."""

    value: int
    card: Card
    outcome: Outcome
    reserved_bytes_peak: int
    allocated_bytes_peak: int
    recordings: Mapping[tuple[int, int], Recording]
    """By rank and device, of the order of addresses that took most."""
    failure: Explanation | None
    """Of the first request that failed."""

    @property
    def fits(self) -> bool:
        """Whether nothing failed."""
        return self.outcome is Outcome.FITS


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Runs the command."""

    words: Sequence[str]
    """The command, with `{name}` where values go."""
    gpus: int
    env: Mapping[str, str]
    steps: int | None

    def run(self, words: Sequence[str], value: int, card: Card) -> Ran:
        """Run it on a card, whatever order of addresses its driver may have.

        Raises:
            InputError: The script fails, and not for want of memory.
        """
        first = self._run(words, value, card, "ascending")
        release = min((one.release for one in first.recordings.values()), default=None)
        if not first.fits or release is None or (release.major, release.minor) > _TIES_BY_ADDRESS:
            return first
        second = self._run(words, value, card, "descending")
        return max(first, second, key=lambda one: (not one.fits, one.reserved_bytes_peak))

    def _run(self, words: Sequence[str], value: int, card: Card, addresses: str) -> Ran:
        with tempfile.TemporaryDirectory(prefix="gapless-") as name, (Path(name) / "printed").open("w+b") as printed:
            folder = Path(name) / "run"
            folder.mkdir()
            ended = launch.run(
                command_of(words, "gapless fit"),
                replace(virtual_card(card, self.gpus), addresses=addresses),
                folder,
                env=self.env,
                stdout=printed.fileno(),
                stderr=printed.fileno(),
                steps=self.steps,
            )
            ran_out = ended.ran_out or any(device["ooms"] for device in _devices(ended.processes))
            if ended.status != 0 and not ran_out:
                raise _failed(words, ended.status, printed)
            if not ended.processes:
                raise InputError("no process of the command used a GPU", hint="see: gapless run --card 24GiB ...")
            return _ran(ended.processes, value, card, ran_out=ran_out)


def _devices(processes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [device for process in processes for device in process["devices"]]


def _ran(processes: Sequence[Mapping[str, Any]], value: int, card: Card, *, ran_out: bool) -> Ran:
    recordings = {
        (process["rank"] or 0, recording.device): recording
        for process in processes
        if process["snapshot"]
        for recording in open_recordings(process["snapshot"])
    }
    failed = (one for one in recordings.values() if len(one.oom_events))
    first = min(failed, key=lambda one: int(one.events.time_us[one.oom_events[0]]), default=None)
    options = ExplainOptions(at="oom:0", recorded_card_bytes=card.capacity_bytes, card_total_bytes=card.total_bytes)
    return Ran(
        value,
        card,
        Outcome.OUT_OF_MEMORY if ran_out else Outcome.FITS,
        max(device["reserved_bytes_peak"] for device in _devices(processes)),
        max(device["allocated_bytes_peak"] for device in _devices(processes)),
        recordings,
        explain(first, options) if first is not None else None,
    )


def _failed(words: Sequence[str], status: int, printed: Any) -> InputError:
    printed.seek(0)
    lines = printed.read().decode("utf-8", "replace").splitlines()[-_SHOWN_LINES:]
    said = "".join(f"\n    {line[:300]}" for line in lines)
    return InputError(
        f"the command ended with status {status}, and not for want of memory: {' '.join(words)[:300]}{said}",
        hint="let it run to its end first: gapless run --card 24GiB ...",
    )
