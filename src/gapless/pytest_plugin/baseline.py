"""What marked tests took last time, in a file that is committed: a pull request that takes more is seen."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gapless.cards import KNOWN_CARDS
from gapless.errors import InputError
from gapless.tune.known_cards import smallest_known_card
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.pytest_plugin.isolated import Took

SCHEMA = "gapless.baseline/1"
TOLERANCE = 0.01
"""Part of the allocated peak by which it may grow unnoticed."""


@dataclass
class Baseline:
    """The file, and what was measured since."""

    path: Path
    known: dict[str, dict[str, Any]]
    measured: dict[str, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def load(path: Path) -> Baseline:
        """Read it; empty where it is not there yet.

        Raises:
            InputError: It is no baseline.
        """
        if not path.exists():
            return Baseline(path, {})
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
            if value["schema"] != SCHEMA:
                raise ValueError(value["schema"])
            known = {str(name): _measured(one) for name, one in value["tests"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{path} is no baseline of GPU memory", hint="write it anew with --gpu-memory-update"
            ) from error
        return Baseline(path, known)

    def compare(self, name: str, took: Took) -> list[str]:
        """What a test takes more than it did, by its name; also kept for `save`."""
        card = smallest_known_card([one.recording for one in took.explanations])
        self.measured[name] = {"allocated_bytes_peak": took.allocated_bytes_peak, "smallest_card": card}
        before = self.known.get(name)
        if before is None:
            return []
        was, now, found = int(before["allocated_bytes_peak"]), took.allocated_bytes_peak, []
        if now > was * (1 + TOLERANCE):
            found.append(f"allocated {format_bytes(now)} at most; it was {format_bytes(was)} ({self.path})")
        order = [one.name for one in KNOWN_CARDS]
        needed = before.get("smallest_card")
        if needed in order and (card is None or order.index(card) > order.index(needed)):
            now_needed = card or "none of the table"
            found.append(f"the smallest card that it fits is {now_needed}; it was {needed} ({self.path})")
        return found

    def save(self) -> None:
        """Write what was measured beside what was known of other tests."""
        value = {"schema": SCHEMA, "tests": dict(sorted({**self.known, **self.measured}.items()))}
        unfinished = self.path.with_name(self.path.name + ".part")
        unfinished.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
        unfinished.replace(self.path)


def _measured(row: dict[str, Any]) -> dict[str, Any]:
    return {"allocated_bytes_peak": int(row["allocated_bytes_peak"]), "smallest_card": row["smallest_card"]}
