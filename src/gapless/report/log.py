"""What a log proves, as text and as Markdown: the verdict, the message it rests on, every rank, what to record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gapless.explain.log.explanation import where
from gapless.report.explanation import headline, verdict_to_text
from gapless.report.redact import PATH

if TYPE_CHECKING:
    from gapless.explain.log import LogExplanation
    from gapless.report.terminal import Terminal


def to_text(explanation: LogExplanation, terminal: Terminal) -> None:
    """Writes the whole answer."""
    verdict_to_text(explanation, terminal, even_certain=True)
    if explanation.numbers is not None:
        message = explanation.numbers.message
        terminal.line()
        terminal.line(terminal.paint(f"The message ({where(message)})", "bold"))
        terminal.paragraph(message.text, 2)
    for finding in explanation.findings[1:]:
        terminal.line()
        terminal.line(terminal.paint(f"{finding.severity} {finding.code} {finding.name}", finding.severity))
        terminal.paragraph(f"{finding.message} {finding.why}".strip(), 2)
    table = explanation.table()
    if table:
        terminal.line()
        terminal.line(terminal.paint("Every message", "bold"))
        for line in table:
            terminal.clipped("  " + line)
    if explanation.recording:
        terminal.line()
        terminal.line(terminal.paint("To record what a log cannot show, before the model is built", "bold"))
        terminal.line(explanation.recording)
    if explanation.left_out:
        terminal.line()
        terminal.paragraph(explanation.left_out, 0)


def to_markdown(explanation: LogExplanation, terminal: Terminal) -> None:
    """Writes the verdict, the message and the table."""
    verdict = explanation.verdict
    terminal.line(f"### {headline(verdict, even_certain=True)}")
    terminal.line()
    for text in (verdict.message, verdict.why, verdict.what_to_do):
        if text:
            terminal.line(f"- {text}")
    message = [explanation.numbers.message.text] if explanation.numbers is not None else []
    recording = [explanation.recording] if explanation.recording else []
    for language, lines in (("text", message), ("text", explanation.table()), ("python", recording)):
        if lines:
            terminal.line(f"\n```{language}\n" + "\n".join(lines) + "\n```")
    if explanation.left_out:
        terminal.line(f"\n{explanation.left_out}")


def paths_in(explanation: LogExplanation) -> set[str]:
    """Everything in the answer that looks like a path of a file."""
    return {path for text in _texts(explanation.to_json()) for path in PATH.findall(text)} | {
        path for row in explanation.rows for path in PATH.findall(row.message.text)
    }


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
