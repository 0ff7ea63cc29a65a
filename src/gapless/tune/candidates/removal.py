"""The user's own options taken out, one at a time and all: what was once set may be what hurts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.conf import parse
from gapless.tune.candidate import Candidate, setting

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes

_NOT_TUNED = ("backend", "per_process_memory_fraction")


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """Each option of the string that concerns the card's memory."""
    parsed = parse(case.recording.settings_text, case.recording.release, at_load=True)
    names = dict.fromkeys(
        item.option.name
        for item in parsed.items
        if item.applied and item.option and not item.option.host_only and item.option.name not in _NOT_TUNED
    )
    for name in names:
        yield setting(case, {name: None})
    if len(names) > 1:
        yield setting(case, dict.fromkeys(names))
