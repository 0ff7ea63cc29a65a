"""The table of `torch.cuda.memory_summary()`, where it stands in a log: what PyTorch held at that moment.

The table cuts sizes down to whole KiB, MiB or GiB (releases before 2.0 call them KB, MB and GB), so each is known from
the printed number up to one unit more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gapless.sources.log.amount import Amount
from gapless.sources.log.origin import Origin
from gapless.sources.log.text import Squeezed
from gapless.units import GIB, KIB, MIB

_UNITS = {"": 1, "K": KIB, "M": MIB, "G": GIB, "T": GIB * KIB, "P": GIB * MIB}
_TITLE = re.compile(r"PyTorchCUDAmemorysummary,deviceID(?P<device>\d{1,4})")
_COUNTS = re.compile(r"CUDAOOMs:(?P<ooms>\d{1,12})\|cudaMallocretries:(?P<retries>\d{1,12})")
_ROW = re.compile(
    r"(?P<name>Allocatedmemory|Activememory|Requestedmemory|GPUreservedmemory|Non-releasablememory)"
    r"\|(?P<now>\d{1,15})(?P<now_unit>[KMGTP]?)i?B\|(?P<peak>\d{1,15})(?P<peak_unit>[KMGTP]?)i?B"
)
_FIELDS = {
    "Allocatedmemory": "allocated",
    "Activememory": "active",
    "Requestedmemory": "requested",
    "GPUreservedmemory": "reserved",
    "Non-releasablememory": "non_releasable",
}


@dataclass(frozen=True)
class MemorySummary:
    """One table; rows that were cut away are None."""

    device: int
    line: int = 0  # 1-based
    origin: Origin = field(default_factory=Origin)
    ooms: int | None = None
    retries: int | None = None
    allocated: Amount | None = None
    active: Amount | None = None
    requested: Amount | None = None
    reserved: Amount | None = None
    non_releasable: Amount | None = None
    allocated_peak: Amount | None = None
    reserved_peak: Amount | None = None

    @property
    def cached(self) -> Amount | None:
        """Bytes that PyTorch held and nobody used."""
        if self.reserved is None or self.allocated is None:
            return None
        return (self.reserved - self.allocated).at_least_zero()


def find_summaries(squeezed: Squeezed) -> Iterator[tuple[int, int, MemorySummary]]:
    """Each table in squeezed text with its begin and end there; origin and line are left to the caller."""
    titles = list(_TITLE.finditer(squeezed.text))
    ends = [title.start() for title in titles[1:]] + [len(squeezed.text)] * (len(titles) > 0)
    for title, end in zip(titles, ends, strict=True):
        fields: dict[str, Any] = {}
        last = title.end()
        for row in _ROW.finditer(squeezed.text, title.end(), end):
            name, last = _FIELDS[row["name"]], row.end()
            fields.setdefault(name, _floored(row["now"], row["now_unit"]))
            if name in ("allocated", "reserved"):
                fields.setdefault(f"{name}_peak", _floored(row["peak"], row["peak_unit"]))
        counts = _COUNTS.search(squeezed.text, title.end(), end)
        ooms, retries = (int(counts["ooms"]), int(counts["retries"])) if counts else (None, None)
        yield title.start(), last, MemorySummary(int(title["device"]), ooms=ooms, retries=retries, **fields)


def _floored(number: str, unit: str) -> Amount:
    """A size that was cut down to whole units."""
    factor = _UNITS[unit]
    value = int(number) * factor
    return Amount(value, value, value + factor - 1)
