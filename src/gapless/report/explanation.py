"""An explanation as text for a terminal: the verdict in three lines, then the evidence, then how far to trust it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gapless.explain.verdict import ORDER
from gapless.report.fixes import before_and_after, fixes_to_text
from gapless.report.frames import place
from gapless.report.pins import pins_to_text
from gapless.report.segment_map import DRAWN, PLAIN, MapOptions, segment_map
from gapless.report.trust import trust_in
from gapless.tune.best_fixes import is_searched_whole
from gapless.tune.shortlist import recommended
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.explain.finding import Finding, Verdict
    from gapless.explain.log import LogExplanation
    from gapless.report.terminal import Terminal
    from gapless.tune import Fix

_BAR = 20
_MOST_PLACES = 8
MOST_GROWTHS = 5
_MAP_ROWS = 10
_HEADINGS = {"error": "error", "warning": "warning", "info": "info"}


def to_text(explanation: Explanation, fixes: Sequence[Fix], terminal: Terminal) -> None:
    """Writes the whole answer."""
    has_failed = explanation.case.recorded_moment.is_failure
    verdict_to_text(explanation, terminal)
    best = recommended(fixes)
    if best is not None:
        before_and_after(best, terminal, has_failed=has_failed)
    _moment(explanation, terminal)
    _map(explanation, terminal)
    if explanation.verdict.code == "FRAG201":
        pins_to_text(explanation.case.pinned, terminal)
    _holders(explanation, terminal)
    _growth(explanation, terminal)
    _findings(explanation, terminal)
    fixes_to_text(fixes, terminal, has_failed=has_failed)
    if fixes and not is_searched_whole(explanation.recording):
        terminal.paragraph("A quick search, as the recording is long: gapless tune tries more.", 2)
    trust_to_text(explanation, terminal)


def verdict_to_text(
    explanation: Explanation | LogExplanation, terminal: Terminal, *, even_certain: bool = False
) -> None:
    """The answer in three lines: what happened, why, what to do."""
    verdict = explanation.verdict
    severity = explanation.findings[0].severity if explanation.findings else "info"
    terminal.line(terminal.paint(headline(verdict, even_certain=even_certain), _HEADINGS[severity]))
    for name, text in (("What", verdict.message), ("Why", verdict.why), ("Do", verdict.what_to_do)):
        if text:
            _entry(name, text, terminal)


def headline(verdict: Verdict, *, even_certain: bool = False) -> str:
    """Code and name of a verdict, and how sure it is where that is not certain (a log's: always)."""
    is_said = even_certain or verdict.confidence != "certain"
    return f"{verdict.code} {verdict.name}" + (f" ({verdict.confidence})" if is_said else "")


def _entry(name: str, text: str, terminal: Terminal) -> None:
    """A name, and a text that hangs beside it."""
    column = 6
    lines = terminal.wrap(text, column)
    for number, line in enumerate(lines):
        label = terminal.paint(f"{name:<{column}}", "bold") if number == 0 else " " * column
        terminal.line(label + line)


def _heading(text: str, terminal: Terminal) -> None:
    terminal.line()
    terminal.line(terminal.paint(text, "bold"))


def _moment(explanation: Explanation, terminal: Terminal) -> None:
    facts, moment, card_bytes = explanation.facts, explanation.case.moment, explanation.case.options.card_bytes
    where = f"event {moment.event} of {explanation.recording.event_count}"
    names = {"oom": "At the failing request", "peak": "At the peak of reserved memory", "end": "At the end"}
    name = names.get(moment.at.partition(":")[0], "At the moment")
    if explanation.case.on_card is not None:
        name = "At the request that fails there in the replay"
    elif card_bytes is not None and not (moment.is_failure and card_bytes == facts.capacity_bytes):
        name += " of the recorded run"  # the card that is asked about is another one
    has_history = explanation.recording.event_count > 1
    _heading(f"{name} ({where})" if has_history else "When the file was written", terminal)
    cells = [f"{name:<14}{size:>12}" for name, size in numbers_at_moment(explanation)]
    for left, right in zip(cells[::2], [*cells[1::2], ""], strict=False):
        terminal.line(f"  {left}    {right}".rstrip())


def numbers_at_moment(explanation: Explanation) -> list[tuple[str, str]]:
    """The allocator's numbers that are known, each with its name."""
    facts, between = explanation.facts, _limit_range(explanation)
    rows = (
        ("requested", facts.requested_bytes),
        ("limit", facts.limit_bytes),
        ("may reserve", None if between else _may_reserve(explanation)),
        ("reserved", facts.reserved_bytes),
        ("allocated", facts.allocated_bytes),
        ("free in cache", facts.free_bytes),
        ("largest hole", facts.largest_free_block_bytes),
        ("free on card", facts.device_free_bytes),
        ("waiting", facts.pending_bytes or None),
        ("private pools", facts.private_pool_free_bytes or None),
    )
    cells = [(name, format_bytes(size)) for name, size in rows if size is not None]
    return [*cells[:1], ("may reserve", between), *cells[1:]] if between else cells


def _may_reserve(explanation: Explanation) -> int | None:
    """What PyTorch has of the card, less what shall stay free."""
    capacity, options = explanation.facts.capacity_bytes, explanation.case.options
    if capacity is None:
        return None
    return min(capacity, max((options.card_bytes or capacity) - options.leave_free_bytes, 0))


def _limit_range(explanation: Explanation) -> str:
    """What a memory limit that refused leaves PyTorch, where that is known only as a range; else nothing."""
    refusal = explanation.case.refusal
    if refusal is None or refusal.limit_is_known:
        return ""
    return f"{format_bytes(refusal.limit_bytes_least)} to {format_bytes(refusal.limit_bytes_most)}"


def _map(explanation: Explanation, terminal: Terminal) -> None:
    pins, refusal = {pin.segment for pin in explanation.pins}, explanation.case.refusal
    options = MapOptions(
        width=terminal.width - 2,
        rows=_MAP_ROWS,
        marks=DRAWN if terminal.draws else PLAIN,
        request_bytes=explanation.facts.requested_bytes,
        pins=pins if explanation.verdict.code == "FRAG201" else (),
        own=(refusal.request.stream, refusal.request.pool) if refusal else None,
        pools=explanation.recording.snapshot.pools,
    )
    lines = segment_map(explanation.case.state, options)
    if lines:
        _heading("Segments, those with most free memory first", terminal)
        for line in lines:
            terminal.line("  " + line)


def _holders(explanation: Explanation, terminal: Terminal) -> None:
    holders = explanation.holders
    total = sum(holder.bytes for holder in holders)
    if not total:
        return
    _heading("Who holds the memory", terminal)
    by_kind: Counter[str] = Counter()
    for holder in holders:
        by_kind[holder.kind] += holder.bytes
    for kind, size in by_kind.most_common():
        bar = (terminal.bar_mark * round(_BAR * size / total)).ljust(_BAR)
        terminal.line(f"  {kind:<13}{format_bytes(size):>12} {size / total:>4.0%}  {bar}".rstrip())
    terminal.line()
    for holder in holders[:_MOST_PLACES]:
        blocks = "1 block" if holder.blocks == 1 else f"{holder.blocks} blocks"
        terminal.clipped(
            f"  {format_bytes(holder.bytes):>12}  {blocks:>11}  {holder.kind:<12} {place(terminal.frame(holder.at))}"
        )
    if len(holders) > _MOST_PLACES:
        rest = holders[_MOST_PLACES:]
        more = "1 more place" if len(rest) == 1 else f"{len(rest)} more places"
        terminal.line(f"  {format_bytes(sum(holder.bytes for holder in rest)):>12}  at {more}")


def _growth(explanation: Explanation, terminal: Terminal) -> None:
    if not explanation.growth:
        return
    _heading("What grows with every step", terminal)
    for growth in explanation.growth[:MOST_GROWTHS]:
        rate = f"{format_bytes(growth.bytes_per_step)} a step"
        terminal.clipped(f"  {rate:>20}  over {growth.steps} steps  {place(terminal.frame(growth.at))}")


def _findings(explanation: Explanation, terminal: Terminal) -> None:
    others = other_findings(explanation)
    if not others:
        return
    _heading("Also found", terminal)
    for finding, advice in others:
        terminal.line("  " + terminal.paint(f"{finding.severity} {finding.code} {finding.name}", finding.severity))
        terminal.paragraph(finding.message, 4)
        if advice:
            terminal.paragraph(f"Do: {advice}", 4)


def other_findings(explanation: Explanation) -> list[tuple[Finding, str]]:
    """What was found besides the verdict, each with its advice where that is told of it."""
    others = [finding for finding in explanation.findings if finding.code != explanation.verdict.code]
    return [(one, one.what_to_do if _has_own_advice(one, explanation) else "") for one in others]


def _has_own_advice(finding: Finding, explanation: Explanation) -> bool:
    """Whether a finding says what to do that the verdict does not; other causes of the failure would contradict it."""
    is_told = not finding.what_to_do or finding.what_to_do in explanation.verdict.what_to_do
    is_cause = finding.code in ORDER and explanation.case.moment.is_failure
    return not is_told and not is_cause and finding.severity != "info"


def trust_to_text(explanation: Explanation, terminal: Terminal) -> None:
    """How exactly the model repeats the recording, on which every other answer rests."""
    terminal.line()
    for sentence in trust_in(explanation.recording):
        terminal.paragraph(sentence, 0)
