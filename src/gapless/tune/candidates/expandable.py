"""expandable_segments: pages instead of segments, so that free memory next to free memory can always be joined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.tune.candidate import Candidate, setting

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """Switched on; with a limit for splitting taken out, since the two work against each other. Or taken out."""
    now = case.recording.settings
    if now.expandable_segments:
        yield setting(case, {"expandable_segments": None})
        return
    if now.max_split_size is not None:
        yield setting(case, {"expandable_segments": "True", "max_split_size_mb": None})
    yield setting(case, {"expandable_segments": "True"})
