"""The answer about a settings string, as JSON (gapless.conf/1) and as text for a terminal."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gapless.conf import Finding, ParsedItem, Settings, line_to_copy
from gapless.conf.answer import ConfAnswer
from gapless.conf.merge import format_value
from gapless.conf.options import Option
from gapless.report.terminal import Terminal

SCHEMA = "gapless.conf/1"
_SHOWN_CHARS = 100
_MOST_OPTIONS = 40


def to_json(answer: ConfAnswer, source: str, note: str) -> dict[str, Any]:
    """Every fact of the answer. `source`: argument, or the variable's name; `note`: what was assumed."""
    parsed, environment = answer.parsed, answer.environment
    return {
        "schema": SCHEMA,
        "input": {
            "text": parsed.text,
            "source": source,
            "torch": str(parsed.release),
            "note": note,
            "at_run_time": answer.previous is not None,
        },
        "accepted": not parsed.problems,
        "variables": None
        if environment is None
        else {
            "set": dict(environment.texts),
            "winner": environment.variable or None,
            "ignored": list(environment.ignored),
            "caching_off": environment.caching_off or None,
        },
        "options": [_option(answer, item) for item in parsed.items],
        "settings": asdict(parsed.settings),
        "findings": [_finding(finding) for finding in answer.findings],
        "harmless": list(answer.harmless),
        "corrected": answer.corrected,
        "left": list(answer.left),
        "line": None if answer.corrected is None else line_to_copy(answer.corrected),
    }


def _option(answer: ConfAnswer, item: ParsedItem) -> dict[str, Any]:
    option, release = item.option, answer.parsed.release
    return {
        "key": item.key,
        "value": item.value,
        "position": item.start,
        "state": answer.state(item),
        "name": option.name if option else None,
        "meaning": _meaning(answer, item, option) if option else None,
        "accepts": option.accepts(release) if option else None,
        "default": option.default if option else None,
        "since": str(option.since) if option else None,
        "host_only": option.host_only if option else None,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity,
        "message": finding.message,
        "hint": finding.hint,
        "position": finding.position,
        "measurements": dict(finding.measurements),
    }


def to_text(answer: ConfAnswer, source: str, note: str, terminal: Terminal) -> None:
    """The verdict, the options, the findings, the line to copy."""
    terminal.line(terminal.paint(_verdict(answer), "bold"))
    if source != "argument" and source:
        terminal.line(f"Read from {source}.")
    if note:
        terminal.line(note)
    _mark(answer, terminal)
    _options(answer, terminal)
    if answer.findings:
        terminal.line()
    for finding in answer.findings:
        label = terminal.paint(f"{finding.severity} {finding.code}", finding.severity)
        terminal.line(f"{label} {finding.name}")
        terminal.paragraph(_printable(finding.message), 4)
        if finding.hint:
            terminal.paragraph(f"-> {_printable(finding.hint)}", 4)
    if answer.harmless:
        terminal.line()
    for sentence in answer.harmless:
        terminal.paragraph(sentence, 0)
    _copy(answer, terminal)


def _verdict(answer: ConfAnswer) -> str:
    release, text = answer.parsed.release, answer.parsed.text
    if answer.parsed.problems:
        end = "the call fails" if answer.previous is not None else "every use of the GPU fails"
        return f"PyTorch {release} refuses these settings, and {end}."
    if not text.strip():
        return f"No settings: PyTorch {release} runs with its defaults."
    count = sum(finding.severity != "info" for finding in answer.findings)
    look = "" if count == 0 else "; 1 thing needs a look" if count == 1 else f"; {count} things need a look"
    return f"PyTorch {release} accepts these settings{look}."


def _mark(answer: ConfAnswer, terminal: Terminal) -> None:
    """The text with a mark under the place where PyTorch stops."""
    if not answer.parsed.problems:
        return
    position, text = answer.parsed.problems[0].position, answer.parsed.text
    begin = max(0, position - _SHOWN_CHARS // 2)
    shown = "".join(char if char.isprintable() else "?" for char in text[begin : begin + _SHOWN_CHARS])
    terminal.line()
    terminal.line(f"  {shown}")
    terminal.line("  " + " " * (position - begin) + terminal.paint("^", "error"))


def _options(answer: ConfAnswer, terminal: Terminal) -> None:
    items = answer.parsed.items
    if items:
        terminal.line()
    for item in items[:_MOST_OPTIONS]:
        state = {"read": "", "replaced": "  (replaced further on)", "unread": "  (not read)", "ignored": "  (ignored)"}[
            answer.state(item)
        ]
        value = f":{_value(answer.parsed.settings, item, answer)}" if item.value is not None else ""
        terminal.line(terminal.paint(_printable(f"{item.key}{value}"), "bold") + state)
        if item.option is not None:
            terminal.paragraph(_meaning(answer, item, item.option), 4)
    if len(items) > _MOST_OPTIONS:
        terminal.line(f"... and {len(items) - _MOST_OPTIONS:,} more")


def _meaning(answer: ConfAnswer, item: ParsedItem, option: Option) -> str:
    """What the option does with the value it has; in general, where the value was not read."""
    read = answer.state(item) == "read"
    return option.meaning_of(getattr(answer.parsed.settings, option.field)) if read else option.meaning


def _value(settings: Settings, item: ParsedItem, answer: ConfAnswer) -> str:
    """The value as written, with what it is read as where that differs."""
    written = item.value or ""
    if item.option is None or answer.state(item) != "read":
        return written
    read = format_value(item.option, getattr(settings, item.option.field))
    return written if read == written else f"{written} = {read}"


def _copy(answer: ConfAnswer, terminal: Terminal) -> None:
    text = answer.corrected
    if answer.previous is not None or (text is not None and not text):
        return
    terminal.line()
    if text is None:
        terminal.line("No line to copy: an error stands that only you can mend.")
    elif text.isprintable():
        label = "To copy" if text == answer.parsed.text else "Corrected, to copy"
        if answer.left:
            label += f"; {' and '.join(answer.left)} still {'holds' if len(answer.left) == 1 else 'hold'}"
        terminal.line(f"{label}:")
        terminal.line(f"  export {line_to_copy(text)}")


def _printable(text: str) -> str:
    """Text of strangers without what could steer a terminal, and not too long."""
    cut = text if len(text) <= 20 * _SHOWN_CHARS else text[: 20 * _SHOWN_CHARS] + "..."
    return "".join(char if char.isprintable() else "?" for char in cut)
