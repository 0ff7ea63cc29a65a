"""Every command and every piece of code that the documents show runs, and prints what they say it prints."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.repo.documents import matches, run_document
from tests.repo.tree import ROOT, read, tracked_files

LINK = re.compile(r"\]\(([^)\s]+)\)")
DOCUMENTS = [path for path in tracked_files() if path.suffix == ".md"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_examples_run_and_print_what_is_shown(path: Path, tmp_path: Path) -> None:
    _, complaints = run_document(read(path), tmp_path)

    assert complaints == [], f"after a look, 'python -m tests.repo.documents {path}' writes today's output"


def test_there_are_documents() -> None:
    assert Path("README.md") in DOCUMENTS


def links_of(path: Path, text: str) -> set[Path]:
    """Files and folders that a document links to, relative to the root; links to the web are left out."""
    names = {name.partition("#")[0] for name in LINK.findall(text) if "://" not in name and not name.startswith("#")}
    return {Path(os.path.normpath(path.parent / name)) for name in names}


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_links_lead_somewhere(path: Path) -> None:
    assert [link for link in links_of(path, read(path)) if not (ROOT / link).exists()] == []


def test_links_are_seen_from_their_folder() -> None:
    text = "[a](b.md#c) [d](../e/) [f](https://g.h/i.md) [j](#k)"

    assert links_of(Path("docs/x.md"), text) == {Path("docs/b.md"), Path("e")}


def test_every_page_of_the_documentation_is_in_its_index() -> None:
    index = Path("docs/README.md")
    linked = links_of(index, read(index))
    pages = [path for path in DOCUMENTS if path.parts[0] == "docs" and path != index]

    assert [page for page in pages if not linked & {page, *page.parents}] == []


def console(*lines: str, mark: str = "") -> str:
    """A document with one console block."""
    return "\n".join(["Text", *([mark] if mark else []), "```console", *lines, "```", "more", ""])


@pytest.mark.parametrize(
    "text",
    [
        console("$ echo a; echo b >&2", "a", "b"),
        console("$ printf 'a\\nb\\nc\\n'", "...", "c", "$ echo 'size 12'", "size ..."),
        console("$ echo a \\", ">   b", "a b"),
        console("$ exit 3", mark="<!-- exit 3 -->"),
        console("$ nonsense", mark="<!-- not run: needs a GPU -->"),
        "```python\n>>> 1 + 1\n2\n```\n",
        "```python\nimport gapless\n```\n",
        "```text\n$ nonsense\n```\n",
    ],
)
def test_a_true_example_passes(text: str, tmp_path: Path) -> None:
    assert run_document(text, tmp_path) == (text, [])


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        (console("$ echo b", "a"), console("$ echo b", "b")),
        (console("$ true", "a"), console("$ true")),
        (console("$ exit 1"), None),
        (console("$ nonsense", mark="<!-- not run:  -->"), None),
        ("```python\n>>> 1 + 1\n3\n```\n", None),
        ("```python\nimport nonsense_that_is_not_there\n```\n", None),
        ("```sh\necho a\n```\n", None),
    ],
)
def test_a_false_example_is_found(text: str, mended: str | None, tmp_path: Path) -> None:
    today, complaints = run_document(text, tmp_path)

    assert len(complaints) == 1
    assert today == (mended or text)


def test_dots_stand_for_text_of_one_line_or_for_lines() -> None:
    assert matches("a ... c\n", "a b c\n")
    assert not matches("a ... c\n", "a b\nc\n")
    assert matches("a\n...\nd\n", "a\nb\nc\nd\n")
    assert matches("a\n...\nd\n", "a\nd\n")
    assert not matches("a\n...\nd\n", "a\nb\n")
