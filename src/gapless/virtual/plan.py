"""What a virtual run is to do, as its processes read it: one JSON file in the folder of the run."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Plan:
    """One run."""

    folder: str
    """Where processes leave what they recorded."""
    libraries: list[str]
    """The stand-ins, in the order in which they are loaded."""
    steps: int | None = None
    """Stop after so many steps of an optimizer; None runs to the end."""
    small_values: bool = True
    """Compute operators on small tensors."""
    selected: float = 0.5
    """Where a size depends on values that are not known, as that of `x[mask]`: the part of them that is selected."""

    world: int | None = None
    """Ranks of the job of which each process poses as one; None: processes are what they are."""

    def save(self) -> Path:
        """Write it into its folder."""
        path = Path(self.folder) / "plan.json"
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return path

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Plan:
        """Read it."""
        return Plan(**json.loads(Path(path).read_text(encoding="utf-8")))
