"""The answer of `gapless tune`, as JSON (gapless.tune/1) and as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gapless.conf import line_to_copy
from gapless.explain.engine import input_to_json, replay_to_json
from gapless.explain.words import plural
from gapless.report.other_devices import others_to_text
from gapless.report.trust import trust_in
from gapless.report.tune_table import tried_to_text
from gapless.tune import Kind
from gapless.tune.grading import is_reached_unchanged
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.recording import Recording
    from gapless.report.terminal import Terminal
    from gapless.tune import Fix, TuneResult
    from gapless.tune.case import Case
    from gapless.tune.other_devices import OtherDevice
    from gapless.tune.tried import Tried

SCHEMA = "gapless.tune/1"
_SMALLEST = "the least that PyTorch must be able to reserve for the change to help; it does on cards from there on."
_NO_SETTING = "On this card no setting that was tried helps"


def to_json(result: TuneResult, others: Sequence[OtherDevice] = ()) -> dict[str, Any]:
    """Every fact of the answer; `others`: the other devices of the file."""
    case = result.case
    return {
        "schema": SCHEMA,
        "input": input_to_json(case.recording),
        "replay": replay_to_json(case.recording),
        "card": {
            "name": case.card.name,
            "capacity_bytes": case.card.capacity_bytes,
            "total_bytes": case.card.total_bytes,
            "limit_bytes": case.limit.least_bytes if case.limit else None,
            "limit_bytes_most": case.limit.most_bytes if case.limit else None,
            "leave_free_bytes": case.leave_free_bytes,
        },
        "critical": {
            "at": case.explained.moment.at,
            "event": case.event,
            "request_bytes": case.request_bytes,
            "failed": case.failed,
        },
        "needs_change": result.needs_change,
        "recommended": next((number for number, one in enumerate(result.tried) if one is result.best), None),
        "candidates": [one.fix.to_json() for one in result.tried],
        "smallest_card_bytes": [one.smallest.bytes if one.smallest else None for one in result.tried],
        "lower_bound_bytes": case.lower_bound_bytes,
        "other_devices": [other.to_json() for other in others],
    }


def to_text(result: TuneResult, terminal: Terminal, others: Sequence[OtherDevice] = ()) -> None:
    """The line to copy, the table of what was tried, and what the best of it risks; then the other devices."""
    if others:
        terminal.line(f"Device {result.case.recording.device}")
    _verdict(result, terminal)
    terminal.line()
    tried_to_text(result, terminal)
    _remarks(result, terminal)
    others_to_text(result, others, terminal)


def _verdict(result: TuneResult, terminal: Terminal) -> None:
    best, case = result.best, result.case
    doubt = _doubt(case.recording)
    if doubt:
        terminal.paragraph(f"All that follows is a guess: {doubt}.", 0)
    if best is not None and not result.needs_change:
        outcome = "the request that failed is served" if case.failed else "the recorded run fits"
        words = f"On this card nothing needs changing: {outcome} with the settings as they are."
        if _is_imagined(case):
            held = format_bytes(case.start_bytes)
            words = f"{words[:-1]}, if the memory from before the recording ({held} reserved) is allocated anew."
        _headline(words, terminal)
        return
    if best is None and any(is_reached_unchanged(case, one.candidate) for one in result.tried):
        words = "As it was, the replay gets over the critical moment on this card: it cannot tell which change helps."
    elif best is None and not case.is_full:
        words = f"{_NO_SETTING}, and no other change."
    else:
        words = " ".join(part for part in (_of_settings(result), _of_best(best)) if part)
    if words:
        _headline(words, terminal)
    if best is not None:
        _lines_to_copy(best.fix, terminal)


def _is_imagined(case: Case) -> bool:
    """On a card smaller than what the recording shows, memory from before it cannot lie where it was."""
    return case.start_bytes > 0 and int(case.recording.curves["reserved"].max()) > case.card.capacity_bytes


def _headline(words: str, terminal: Terminal) -> None:
    for line in terminal.wrap(words, 0):
        terminal.line(terminal.paint(line, "bold"))


def _doubt(recording: Recording) -> str:
    """Why the model proves nothing of this recording; empty where it repeats all of it."""
    check = recording.check
    if recording.trace.contradiction_count:
        return f"{plural(recording.trace.contradiction_count, 'event')} cannot have happened as recorded (REC704)"
    if check is None or check.events_checked == 0:
        return "the recording holds nothing that the model could be checked by"
    if check.exact:
        return ""
    return f"the model repeats {check.events_matching:,} of {check.events_checked:,} recorded decisions"


def _of_settings(result: TuneResult) -> str:
    """What is to be said of settings before all else; nothing where the best change is one."""
    case, helping = result.case, [one.fix.kind for one in result.tried if one.helps]
    no_setting = "" if Kind.SETTING in helping or Kind.LIMIT in helping else _NO_SETTING
    if case.growth:
        full = "memory grows with every step"
        last = "a larger card or other settings only delay the failure."
    elif case.is_full:
        full, last = "memory is full", "only a smaller job or a larger card can be relied on."
    else:
        return f"{no_setting}." if no_setting else ""
    return f"{no_setting}: {full}, and {last}" if no_setting else f"{full[:1].upper()}{full[1:]}: {last}"


def _of_best(best: Tried | None) -> str:
    """How the best change is introduced; nothing where it speaks for itself."""
    if best is None:
        return ""
    if best.fix.is_open_ended:
        return "What may help, as what comes after it is not known:"
    return "" if best.fix.kind in (Kind.SETTING, Kind.LIMIT) else "What helps:"


def _lines_to_copy(fix: Fix, terminal: Terminal) -> None:
    """The settings, and what the program has to call beside them; first in words what is not done with these."""
    if fix.kind in (Kind.CODE, Kind.CARD) or (fix.conf is None and fix.call is None):
        terminal.line(terminal.paint(fix.change, "bold"))
    if fix.conf is not None:
        terminal.line(f"export {line_to_copy(fix.conf)}")
    if fix.call is not None:
        terminal.line(f"{fix.call}  # in the program, before it allocates")


def _remarks(result: TuneResult, terminal: Terminal) -> None:
    case = result.case
    before: Fix | None = result.tried[0].fix if result.tried else None
    terminal.line()
    calls = f", {before.device_calls_before:,} calls of the driver" if before else ""
    peak = format_bytes(case.before.result.reserved_bytes_peak)
    anew = case.before_anew.result.reserved_bytes_peak
    if case.start_bytes and case.before_anew is not case.before:
        calls = f"; with the memory from before the recording allocated anew {format_bytes(anew)}{calls}"
    if any(one.smallest for one in result.tried):
        terminal.paragraph(f"smallest card: {_SMALLEST}", 0)
    shown = format_bytes(int(case.recording.curves["reserved"].max()))
    late = f" The recording itself shows up to {shown}." if _is_imagined(case) else ""
    terminal.paragraph(f"As it was: {peak} reserved at most on a card of {_room(result)}{calls}.{late}", 0)
    if case.shrunk_bytes:
        terminal.paragraph(
            f"The run had reserved up to {format_bytes(case.shrunk_bytes)} more than it could have when the request"
            " failed. Replayed is with that little from the start, so a change that fails may only fail earlier.",
            0,
        )
    if case.limit is not None and case.limit.slack_bytes:
        least, most = format_bytes(case.limit.least_bytes), format_bytes(case.limit.most_bytes)
        terminal.paragraph(
            f"The memory limit that refused lies between {least} and {most}. All was replayed with both: unknown is"
            " where they differ.",
            0,
        )
    bound = format_bytes(case.lower_bound_bytes)
    terminal.paragraph(f"No setting can need less than {bound}, the peak of live bytes; it may be out of reach.", 0)
    for risk in result.best.fix.risks if result.best else ():
        terminal.paragraph(f"{risk.name}: {risk.message}", 0)
    for sentence in trust_in(case.recording):
        terminal.paragraph(sentence, 0)


def _room(result: TuneResult) -> str:
    card = result.case.card
    size = format_bytes(card.capacity_bytes)
    return size if card.name in {"as recorded", size} else f"{size} ({card.name})"
