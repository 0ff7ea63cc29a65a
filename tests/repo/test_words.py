"""Text of the project speaks of the project: not of the machine it was written on, nor of how it was written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repo.tree import ROOT, tracked_files

MACHINE = re.compile("|".join(re.escape("/" + rest) for rest in ("work/", "root/.", "tmp/bash_jobs", "tmp/pytest-of")))
MAKING = re.compile(
    r"\b(sessions?|helpers?|sub-?agents?|chatbots?|claude|anthropic|chatgpt)\b"
    r"|\b(system|user|this|my|your|the) prompt\b|\bprompted\b"
    r"|\bthe brief\b|\b(the|this|see) issue \d+\b|\bissue #?\d{1,2}\b",
    re.IGNORECASE,
)
# Where such a word means something of the field: file pattern, and the words allowed there.
ALLOWED = (
    ("*", r"InferenceSession|inference sessions?|tmux sessions?|scope=\"session\"|pytest_session\w+|session-scoped"),
    ("docs/kv*", r"the prompt"),
    ("tests/repo/test_words.py", r".*"),
)


def complaints(path: Path, text: str) -> list[str]:
    """Lines of a text that name this machine or speak of how the project was made."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        rest = line
        for pattern, words in ALLOWED:
            if path.match(pattern) or path.as_posix() == pattern:
                rest = re.sub(words, "", rest)
        match = MACHINE.search(rest) or MAKING.search(rest)
        if match:
            found.append(f"{path}:{number}: {match[0]!r}")
    return found


def text_of(path: Path) -> str | None:
    """A file's text; None for data."""
    raw = (ROOT / path).read_bytes()
    return None if b"\0" in raw[:8192] else raw.decode(errors="replace")


def test_text_speaks_of_the_project_alone() -> None:
    texts = [(path, text_of(path)) for path in tracked_files()]

    assert len(texts) > 20
    assert [c for path, text in texts if text is not None for c in complaints(path, text)] == []


@pytest.mark.parametrize(
    "line",
    [
        "made in an earlier session",
        "a helper for the lines",
        "as the prompt asks",
        "see issue 2",
        "open " + "/" + "work/main/README.md",
    ],
)
def test_a_stray_word_is_found(line: str) -> None:
    assert len(complaints(Path("README.md"), line)) == 1


@pytest.mark.parametrize(
    "line", ["onnxruntime.InferenceSession(path)", "tokens of a prompt", "pytorch/pytorch#12345", "network/ and work/"]
)
def test_words_of_the_field_are_left_alone(line: str) -> None:
    assert complaints(Path("README.md"), line) == []
