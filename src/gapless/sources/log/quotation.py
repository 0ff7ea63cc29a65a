"""Tells a message that is quoted (source code, a comment, advice, documentation) from one that reports a failure."""

from __future__ import annotations

import re

from gapless.sources.log.text import COLOUR_OR_NUL

_EXCEPTION_NAME = re.compile(r"[A-Za-z_][\w.]{0,80}(?:Error|Exception)\W{0,4}$")
_COMMENT = re.compile(r"^[\s|+-]{0,40}(?:#|//|/\*|--\s|<!--|;)")
_STATEMENT = re.compile(
    r"^[\s|>+E-]{0,40}(?:raise|if|elif|assert|return|print|with|except|case|throw|grep|echo|logger?\.\w{1,10}|"
    r"TORCH_CHECK\w{0,20}|[A-Za-z_][\w.]{0,60}\s{1,4}(?:=|==|in))\b"
)
_IN_A_PROGRAM = re.compile(
    r"(?:\w\s{0,3}={1,2}\s{1,3}(?:\(\s{0,40})?|\w(?<!Error)(?<!Exception)\(\s{0,40})[rbuf]{0,2}[\"'`]\s{0,2}$"
)
"""An assignment, or a call, with quotation marks; maybe on the next line."""
_ADVICE = re.compile(
    r"(?i)(?:\bif you (?:see|get|encounter|hit|receive)|\bsuch as|\be\.g\.|\bfor example"
    r"|\b(?:errors?|messages?|something) like|\bthrows? this error|\bmay (?:see|fail with)|\blooks? like)[^\n]{0,160}$"
)
_QUOTE = re.compile(r"[\"'`\u201c\u2018]\s{0,2}$")
_DATA = re.compile(
    r"(?:[\"'\w]\s{0,3}:\s{0,3}|[\w\])]=|(?:Error|Exception)\(|(?:(?<!\w)\(|[\[{,])\s{0,3})[rbuf]{0,2}\\{0,4}[\"']\s{0,2}$"
)
_FILE_LINE = re.compile(r"File \\{0,4}\"[^\"\n]{1,300}\", line \d{1,9}, in [^\n]{1,160}\n[^\n]{0,120}$")

_REPORT = re.compile(r"^[^\"'`#\u201c\u2018]{0,400}(?:Error|Exception)\b[^\"'`#\u201c\u2018]{0,400}$")
"""The exception itself below the last frame of a traceback without source lines, as of stdin or a compiled module."""


def is_quotation(before: str, *, is_whole: bool = False) -> bool:
    """Whether the text before a message on its line, and the line above, make it a quotation.

    Quotation marks alone do not: data (JSON, a representation of an exception) has them too. A statement of a program
    with quotation marks does, and so do comments, advice, and the source line that a traceback shows.

    Args:
        before: The end of the log up to the message; the last 600 characters are looked at.
        is_whole: The message has all the numbers of a failure: what repeats it in quotation marks is data as well.
    """
    before = COLOUR_OR_NUL.sub("", before[-600:])
    line = before.rpartition("\n")[2].rpartition("\r")[2]
    shows_source = _FILE_LINE.search(before) is not None and not _REPORT.match(line)
    if _COMMENT.match(line) or _ADVICE.search(line) or shows_source:
        return True
    without_name = _EXCEPTION_NAME.sub("", line)
    if not _QUOTE.search(line) and not _QUOTE.search(without_name):
        return False
    if _STATEMENT.match(line):
        return True
    if is_whole:
        return any(_IN_A_PROGRAM.search(text) for text in (before, _EXCEPTION_NAME.sub("", before)))
    return not (_DATA.search(line) or _DATA.search(without_name))
