"""`Candidate`: a change to try, before anything is known of what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gapless.conf import ParsedConf, merge, parse
from gapless.conf.options import find
from gapless.replaying import Edits, ReplayOptions
from gapless.tune.fix import Kind
from gapless.tune.limits import FRACTION, FRACTION_OPTION_SINCE, limit_of_fraction

if TYPE_CHECKING:
    from gapless.cards import Card
    from gapless.conf import Release, Settings
    from gapless.tune.case import Case

_WEIGHTY = ("max_split_size_mb", "expandable_segments", "roundup_power2_divisions", "large_segment_size_mb")


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One change, complete enough to be replayed."""

    kind: Kind
    change: str
    conf: str | None = None
    settings: Settings | None = None
    """In force from the start; None: as recorded."""
    changes: Mapping[str, str | None] = field(default_factory=dict)
    """The options that differ from the user's own, as text; None: taken out."""
    fraction: float | None = None
    """A memory fraction set by this change, in the text or by a call."""
    lifts_limit: bool = False
    """The memory fraction that was in force is taken away."""
    card: Card | None = None
    """Another card."""
    is_card_open: bool = False
    """That card only stands for a size: which one it will be, and so its memory fraction, is not known."""
    edits: Edits = field(default_factory=Edits)
    edited_bytes: int = 0
    """Sizes and lifetimes that were assumed."""
    order: int = 0
    """Among equals, lower comes first: values far from the sizes that decide, smaller changes to the code."""
    shrinks_passes: bool = False
    """Makes forward and backward passes smaller: known to fit only where the recording holds a whole step."""
    group: str = ""
    """Of changes to the code: those of one group differ in degree."""

    @property
    def family(self) -> str:
        """The option that matters most among those that are changed, or the group of a change to the code."""
        names = (*_WEIGHTY, *sorted(self.changes))
        return next((name for name in names if name in self.changes), self.group)

    def call(self, release: Release) -> str | None:
        """The memory fraction as a line of the program, for releases whose settings have no option for it."""
        is_called = self.fraction is not None and not self.is_card_open and release < FRACTION_OPTION_SINCE
        return f"torch.cuda.set_per_process_memory_fraction({self.fraction:g})" if is_called else None

    def options(self, case: Case, capacity_bytes: int | None = None) -> ReplayOptions:
        """How to replay it; `capacity_bytes`: on a card of that size instead, other things being equal."""
        card = self.card or case.card
        if capacity_bytes is not None:
            total = max(capacity_bytes, card.total_bytes - card.capacity_bytes + capacity_bytes)
            card = replace(card, capacity_bytes=capacity_bytes, total_bytes=total)
        base = case.options(card)
        # What stays free is kept free by a fraction where this change sets one; else it is as if others had it already.
        taken = 0 if self.fraction is not None else case.leave_free_bytes
        return replace(
            base,
            settings=self.settings,
            capacity_bytes=max(card.capacity_bytes - taken, 0),
            limit_bytes=self._limit(case, card, base.limit_bytes),
            limit_bytes_most=None if self.lifts_limit or self.fraction is not None else base.limit_bytes_most,
            edits=self.edits,
        )

    def _limit(self, case: Case, card: Card, recorded: int | None) -> int | None:
        if self.lifts_limit:
            return None
        if self.fraction is None:
            return recorded
        # Others need the same room on every card; a fraction that was chosen for itself stays what it is.
        fraction = case.fraction_on(card, self.settings or case.recording.settings)
        fraction = self.fraction if fraction is None else fraction
        return limit_of_fraction(fraction, card.total_bytes, case.recording.release)


def setting(
    case: Case, changes: Mapping[str, str | None], *, order: int = 0, fraction: float | None = None
) -> Candidate | None:
    """The candidate that sets options in the user's own string.

    Where room must stay free for others, or a fraction is given, the memory fraction comes with it: in the text where
    the release reads it there, else by a call. None where the release would refuse the result, or nothing would change.
    """
    recording = case.recording
    if fraction is None:
        fraction = case.fraction_on(case.card, _read(case, merge(recording.settings_text, changes)).settings)
    in_text = fraction is not None and recording.release >= FRACTION_OPTION_SINCE
    wanted = {**changes, **({FRACTION: f"{fraction:g}"} if in_text else {})}
    parsed = _read(case, merge(recording.settings_text, wanted))
    if not _all_read(parsed, wanted, recording.release):
        return None
    if parsed.settings == recording.settings and fraction is None:
        return None
    found = of_conf(case, parsed.text, _in_words(wanted, None if in_text else fraction))
    if found is None:
        return None
    conf = found.conf if found.conf != recording.settings_text else None
    return replace(found, conf=conf, changes=dict(changes), order=order, fraction=fraction)


def of_conf(case: Case, text: str, change: str) -> Candidate | None:
    """The candidate that puts a whole settings string in place of the user's; None where the release refuses it."""
    parsed = _read(case, text)
    if parsed.problems:
        return None
    fraction = parsed.settings.per_process_memory_fraction
    return Candidate(
        kind=Kind.SETTING,
        change=change,
        conf=text,
        settings=parsed.settings,
        fraction=fraction if fraction != case.recording.settings.per_process_memory_fraction else None,
    )


def beside_others(case: Case, candidate: Candidate) -> Candidate:
    """A change of the program or the card, with the memory fraction that keeps PyTorch's cache out of what stays free.

    As it is where nothing has to.
    """
    recording = case.recording
    fraction = case.fraction_on(candidate.card or case.card, recording.settings)
    if fraction is None:
        return candidate
    if candidate.is_card_open:
        return replace(candidate, change=f"{candidate.change}; with a memory fraction there", fraction=fraction)
    wanted = {FRACTION: f"{fraction:g}"} if recording.release >= FRACTION_OPTION_SINCE else {}
    words = _in_words(wanted, None if wanted else fraction)
    return replace(
        candidate,
        change=f"{candidate.change}; and {words}",
        conf=merge(recording.settings_text, wanted) if wanted else None,
        fraction=fraction,
    )


def _read(case: Case, text: str) -> ParsedConf:
    """A settings string as the recorded release reads it."""
    return parse(text, case.recording.release, at_load=True)


def _all_read(parsed: ParsedConf, changes: Mapping[str, str | None], release: Release) -> bool:
    """Whether the release knows each option, and PyTorch took it over."""
    read = {item.option.name for item in parsed.items if item.applied and item.option}
    wanted = (find(name) for name, value in changes.items() if value is not None)
    return all(option and option.since <= release and option.name in read for option in wanted)


def _in_words(changes: Mapping[str, str | None], called: float | None) -> str:
    set_ = [f"{name}:{value}" for name, value in changes.items() if value is not None]
    dropped = [name for name, value in changes.items() if value is None]
    words = [f"set {','.join(set_)}"] if set_ else []
    words += ["leave out " + ", ".join(dropped)] if dropped else []
    words += [f"call torch.cuda.set_per_process_memory_fraction({called:g})"] if called is not None else []
    return ", ".join(words)
