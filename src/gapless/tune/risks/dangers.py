"""What the new settings can break outside the allocator, or between each other: the findings of the settings check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gapless.conf import check
from gapless.tune.fix import Risk

if TYPE_CHECKING:
    from gapless.tune.case import Case
    from gapless.tune.tried import Tried

_TOLD = (
    "CONF611",  # split-limit-with-expandable
    "CONF614",  # odd-page-size
    "CONF631",  # expandable-breaks-ipc
    "CONF632",  # expandable-breaks-registration
    "CONF633",  # expandable-breaks-sleep
    "CONF641",  # switch-drops-settings
)


def look(case: Case, one: Tried) -> list[Risk]:
    """Those that the user's own settings did not have already."""
    if one.candidate.conf is None:
        return []
    release = case.recording.release
    own = {finding.code for finding in check(case.recording.settings_text, release)}
    found = (finding for finding in check(one.candidate.conf, release) if finding.code in _TOLD)
    return [Risk(finding.name, finding.message) for finding in found if finding.code not in own]
