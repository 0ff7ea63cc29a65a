"""Examples in Markdown files, run as a reader would run them.

A ```console block holds commands after `$ ` and what they print; a ```python block is a program, or with `>>>` a
doctest. In expected output `...` stands for any text, alone on a line for any lines. What cannot run here has a line
above its fence, `<!-- not run: why -->`; a last command that fails on purpose has `<!-- exit 1 -->`.

    python -m tests.repo.documents README.md     write what the commands print today into their blocks
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.repo.tree import ROOT

FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
COLUMNS = "100"
SECONDS_MOST = 60


@dataclass(frozen=True)
class Block:
    """A fenced block of a document."""

    line: int
    language: str
    body: str
    reason_not_run: str | None
    status: int
    span: tuple[int, int]  # of the body, in the document's text


@dataclass(frozen=True)
class Outcome:
    """What a block printed, written as the block would be, and what is wrong with it; empty when nothing is."""

    body: str
    complaint: str


def blocks(text: str) -> Iterator[Block]:
    """Fenced blocks of a Markdown text, in order."""
    for match in FENCE.finditer(text):
        mark = match["mark"] or ""
        reason = mark.removeprefix("not run: ") if mark.startswith("not run: ") else None
        status = int(mark.removeprefix("exit ")) if re.fullmatch(r"exit \d+", mark) else 0
        line = text.count("\n", 0, match.start("body"))
        yield Block(line, match["language"].strip(), match["body"], reason, status, match.span("body"))


def run(block: Block, folder: Path) -> Outcome:
    """Run a block in a folder; blocks that are not to be run, or hold no commands, have nothing wrong."""
    if block.reason_not_run is not None:
        return Outcome(block.body, "" if block.reason_not_run else "says no reason why it is not run")
    if block.language == "console":
        return run_console(block, folder)
    if block.language == "python":
        is_doctest = ">>> " in block.body
        name = "example.txt" if is_doctest else "example.py"
        (folder / name).write_text(block.body)
        status, output = execute(f"python {'-m doctest ' if is_doctest else ''}{name}", folder)
        return Outcome(block.body, "" if status == block.status else f"ended with {status}:\n{output}")
    is_shell = block.language in {"sh", "bash", "shell"}
    return Outcome(block.body, "is not run: write ```console, with `$ ` before commands" if is_shell else "")


def run_console(block: Block, folder: Path) -> Outcome:
    """Run the commands of a transcript one after the other and compare what each prints."""
    body, complaint, status = "", "", 0
    for command, expected in transcript(block.body):
        status, output = execute(command.replace("\\\n> ", "\\\n"), folder)
        fits = matches(expected, output)
        body += f"$ {command}\n" + (expected if fits else output)
        complaint += "" if fits else f"$ {command}\nprinted\n{output}instead of\n{expected}"
    if status != block.status:
        complaint += f"the last command ended with {status}, not {block.status}\n"
    return Outcome(body, complaint)


def transcript(body: str) -> Iterator[tuple[str, str]]:
    """Commands with what they are expected to print; a command goes on after a backslash, on a line with `> `."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        match = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n", part)
        if match:
            yield match[1], part[match.end() :]


def matches(expected: str, output: str) -> bool:
    """Whether output is as expected; trailing blanks and empty lines at the end do not count.

    Each part between two lines of dots is looked for where it comes first: in time that grows with the lines, and not
    with a power of them as one regular expression for all would take.
    """
    lines = tidy(output).splitlines()
    first, *parts = _parts(tidy(expected).splitlines())
    if not parts:
        return len(lines) == len(first) and _begins(lines, 0, first)
    if not _begins(lines, 0, first):
        return False
    at = len(first)
    for part in parts[:-1]:
        found = next((k for k in range(at, len(lines)) if _begins(lines, k, part)), None)
        if found is None:
            return False
        at = found + len(part)
    end = len(lines) - len(parts[-1])
    return end >= at and _begins(lines, end, parts[-1])


def _parts(expected: list[str]) -> list[list[re.Pattern[str]]]:
    """The expected lines, cut where a line of dots stands."""
    parts: list[list[re.Pattern[str]]] = [[]]
    for line in expected:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(re.compile(re.escape(line).replace(re.escape("..."), ".*")))
    return parts


def _begins(lines: list[str], at: int, part: list[re.Pattern[str]]) -> bool:
    """Whether a part stands at a line of the output."""
    here = lines[at : at + len(part)]
    return len(here) == len(part) and all(want.fullmatch(line) for want, line in zip(part, here, strict=True))


def tidy(text: str) -> str:
    """Text without blanks at the ends of lines and with one newline at its end, if it has any line."""
    text = "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")
    return text + "\n" if text else ""


def execute(command: str, folder: Path) -> tuple[int, str]:
    """Exit status and output (both streams) of a shell command in `folder`, with this environment's programs."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    settings = {"PATH": path, "COLUMNS": COLUMNS, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MOST,
        check=False,
    )
    return done.returncode, done.stdout


def run_document(text: str, folder: Path) -> tuple[str, list[str]]:
    """Run a document's blocks beside `examples` and `docs`; the text with today's output, and complaints."""
    for name in ("examples", "docs"):
        (folder / name).symlink_to(ROOT / name)
    complaints, parts, end = [], [], 0
    for block in blocks(text):
        outcome = run(block, folder)
        complaints += [f"line {block.line}: {outcome.complaint}"] if outcome.complaint else []
        parts += [text[end : block.span[0]], outcome.body]
        end = block.span[1]
    return "".join([*parts, text[end:]]), complaints


def main() -> int:
    """Rewrite the documents named on the command line."""
    status = 0
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            text, complaints = run_document(Path(name).read_text(encoding="utf-8"), Path(folder))
        Path(name).write_text(text, encoding="utf-8")
        for complaint in complaints:
            print(f"{name}: {complaint}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
