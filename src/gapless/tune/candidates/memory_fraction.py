"""The process's own memory limit: taken away where it refused, or set where others need room on the card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gapless.conf import merge, parse
from gapless.tune.candidate import Candidate, setting
from gapless.tune.fix import Kind
from gapless.tune.limits import FRACTION

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.sizes import DecisiveSizes


def propose(case: Case, sizes: DecisiveSizes) -> Iterator[Candidate | None]:
    """No limit; with room to leave for others, the limit alone (other families then carry it too)."""
    if case.limit and not case.leave_free_bytes:
        yield _without(case)
    if case.leave_free_bytes:
        yield setting(case, {})


def _without(case: Case) -> Candidate:
    recording = case.recording
    text = merge(recording.settings_text, {FRACTION: None})
    is_option = text != recording.settings_text
    return Candidate(
        kind=Kind.LIMIT,
        change=f"leave out {FRACTION}" if is_option else "do not call torch.cuda.set_per_process_memory_fraction()",
        conf=text if is_option else None,
        settings=parse(text, recording.release, at_load=True).settings if is_option else None,
        lifts_limit=True,
    )
