"""The whole answer about a settings string: what each option does, what was found, and the line to use instead."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from gapless.conf.check import check, corrected
from gapless.conf.findings import Finding
from gapless.conf.parse import ParsedConf, ParsedItem, parse
from gapless.conf.releases import NEWEST, Release
from gapless.conf.settings import Settings
from gapless.conf.variables import Environment


@dataclass(frozen=True)
class ConfAnswer:
    """What there is to say about one settings string."""

    parsed: ParsedConf
    findings: tuple[Finding, ...]
    corrected: str | None
    """The text with mechanical mistakes mended, maybe the text itself; None where an error stands that only the user
    can mend."""
    environment: Environment | None
    previous: Settings | None

    def state(self, item: ParsedItem) -> str:
        """What became of an item: read, replaced (by a later duplicate) or unread."""
        if not item.applied or item.option is None:
            return "unread"
        return "read" if self._last[item.option.name] == item.start else "replaced"

    @cached_property
    def _last(self) -> dict[str, int]:
        return {item.option.name: item.start for item in self.parsed.items if item.option and item.applied}


def answer(
    text: str,
    release: Release = NEWEST,
    *,
    environment: Environment | None = None,
    uses: Collection[str] = (),
    previous: Settings | None = None,
) -> ConfAnswer:
    """Reads and checks a settings string; arguments as for `check`.

    >>> answer("expandable_segments:true").corrected
    'expandable_segments:True'
    """
    findings = check(text, release, environment=environment, uses=uses, previous=previous)
    parsed = parse(text, release, previous, at_load=previous is None)
    mended = corrected(text, release, uses=uses, previous=previous)
    return ConfAnswer(parsed, tuple(findings), mended, environment, previous)
