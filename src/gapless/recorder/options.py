"""What may be chosen about recording; by keyword, or as text in the environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

FOLDER_VARIABLE, OPTIONS_VARIABLE = "GAPLESS_RECORD", "GAPLESS_RECORD_OPTIONS"


@dataclass(frozen=True)
class Options:
    """How to record."""

    folder: str
    """Where files are written; made where it is not there."""
    max_events: int = 300_000
    """Most events that each device keeps; older ones are forgotten."""
    snapshot_seconds: float = 30.0
    """Longest that writing one snapshot may take; 0 writes none."""
    threshold: float = 0.0
    """Part of the device's memory in use, 0 to 1, at which a snapshot is written once; 0 for never."""
    signal: str = "auto"
    """Name of the signal at which a snapshot is written, `none`, or `auto`: USR1, if nobody else has a use for it."""
    reset_peaks: bool = False
    """Whether PyTorch's peaks begin anew with each step: each row then has its own, but the program's are changed."""

    def __post_init__(self) -> None:
        if not self.folder:
            raise ValueError("a folder is needed")
        if self.max_events < 1:
            raise ValueError(f"max_events is {self.max_events}; it counts from 1")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold is {self.threshold}; it is a part of a whole, 0 to 1")
        if self.snapshot_seconds < 0:
            raise ValueError(f"snapshot_seconds is {self.snapshot_seconds}; it cannot be less than 0")

    def to_environment(self) -> dict[str, str]:
        """The variables by which a process is told.

        >>> Options("out", max_events=5).to_environment()["GAPLESS_RECORD_OPTIONS"]
        'max_events:5,snapshot_seconds:30.0,threshold:0.0,signal:auto,reset_peaks:False'
        """
        others = [field.name for field in fields(self) if field.name != "folder"]
        text = ",".join(f"{name}:{getattr(self, name)}" for name in others)
        return {FOLDER_VARIABLE: os.path.abspath(self.folder), OPTIONS_VARIABLE: text}


def options_in(environment: Mapping[str, str]) -> Options:
    """What the environment says.

    Raises:
        ValueError: It is not understood.

    >>> options_in({"GAPLESS_RECORD": "out", "GAPLESS_RECORD_OPTIONS": "threshold:0.9,signal:none"}).threshold
    0.9
    """
    kinds: dict[str, Callable[[str], int | float | str | bool]]
    kinds = {"max_events": int, "snapshot_seconds": float, "threshold": float, "signal": str, "reset_peaks": _truth}
    values: dict[str, int | float | str | bool] = {}
    for item in filter(None, environment.get(OPTIONS_VARIABLE, "").split(",")):
        name, _, text = item.partition(":")
        if name.strip() not in kinds:
            raise ValueError(f"{OPTIONS_VARIABLE} knows no {name.strip()!r}; it knows {', '.join(kinds)}")
        values[name.strip()] = kinds[name.strip()](text.strip())
    return Options(environment.get(FOLDER_VARIABLE, ""), **values)  # type: ignore[arg-type]


def _truth(text: str) -> bool:
    if text.lower() not in {"true", "false", "1", "0"}:
        raise ValueError(f"{text!r} is neither True nor False")
    return text.lower() in {"true", "1"}
