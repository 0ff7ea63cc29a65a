"""The whole answer about a settings string: what each option does, what was found, and the line to use instead."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from gapless.conf.check import check, corrected
from gapless.conf.checks.dangers import harmless
from gapless.conf.findings import Finding, Subject
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
    left: tuple[str, ...]
    """Codes of the warnings that hold for the corrected text as well."""
    previous: Settings | None
    harmless: tuple[str, ...] = ()
    """Sentences on uses of the program that the settings do not break."""

    def state(self, item: ParsedItem) -> str:
        """What became of an item: read, replaced (by a later duplicate), ignored (by another backend) or unread."""
        if not item.applied or item.option is None:
            return "unread"
        if self._last[item.option.name] != item.start:
            return "replaced"
        return "ignored" if item.option.for_native and self.parsed.settings.backend != "native" else "read"

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
    still = [] if mended is None else check(mended, release, uses=uses, previous=previous)
    left = dict.fromkeys(finding.code for finding in still if finding.severity == "warning")
    fine = harmless(Subject(parsed, environment, frozenset(uses), previous))
    return ConfAnswer(parsed, tuple(findings), mended, environment, tuple(left), previous, tuple(fine))
