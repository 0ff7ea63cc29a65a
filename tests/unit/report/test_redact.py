"""Nothing of a path stays in a redacted report."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapless.report.redact import Redactor

_PARTS = st.text(st.characters(whitelist_categories=("Lu", "Ll", "Nd"), whitelist_characters="-_ é"), min_size=3)
_PATHS = st.one_of(
    st.lists(_PARTS, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts) + ".py"),
    st.lists(_PARTS, min_size=1, max_size=4).map(lambda parts: "C:\\" + "\\".join(parts) + ".py"),
    _PARTS.map(lambda name: name + ".py"),
)


@given(st.lists(_PATHS, min_size=1, max_size=5), st.integers(0, 99_999))
def test_no_path_nor_name_of_a_file_stays(paths: list[str], line: int) -> None:
    text = "; ".join(f"at {path}:{line} in f" for path in paths)
    redactor = Redactor(paths, [(path, line, "f") for path in paths])

    for redacted in (redactor.text(text), json.dumps(redactor.json({"a": [text, {"file": paths[0]}]}))):
        for path in paths:
            assert path not in redacted
            assert path.replace("\\", "/").rpartition("/")[2] not in redacted


@given(st.lists(_PATHS, min_size=2, max_size=5, unique=True))
def test_different_files_have_different_names(paths: list[str]) -> None:
    redactor = Redactor(paths, [(path, 1, "f") for path in paths])

    assert len({redactor.text(f"{path}:1") for path in paths}) == len(paths)


def test_a_name_of_another_file_is_not_cut() -> None:
    redactor = Redactor([], [("/x/a.py", 1, "f")])

    assert (
        redactor.text("a.py:1 data.py:1 a.py:12 a.pyx:1") == f"{redactor.text('/x/a.py')}:1 data.py:1 a.py:12 a.pyx:1"
    )


def test_the_longer_path_goes_first() -> None:
    redactor = Redactor(["/x", "/x/y.py"])

    assert "y.py" not in redactor.text("/x/y.py")


def test_values_that_are_no_text_stay() -> None:
    value: dict[str, Any] = {"a": 1, "b": None, "c": [2.5, True], "line": "unknown"}

    assert Redactor(["/x/a.py"]).json(value) == value


def test_without_paths_nothing_changes() -> None:
    assert Redactor([]).text("a b") == "a b"


def test_a_path_that_is_not_text_is_redacted() -> None:
    path = "/home/caf\udce9/a.py"

    assert Redactor([path]).text(f"{path}:3").startswith("file-")


@pytest.mark.parametrize("word", ["oom", "FRAG201", "MiB", "in", "a", "event", "1", "file"])
def test_a_word_that_is_the_name_of_a_file_stays_a_word(word: str) -> None:
    redactor = Redactor([word], [(word, 3, word)])
    value = {"at": word, "code": word, "message": f"{word} {word}: {word} of {word}", "n": 3}

    assert redactor.json(value) == value
    assert redactor.json({"path": word, "at": {"file": word, "line": 3, "function": "f"}}) == {
        "path": redactor.path(word),
        "at": {"file": redactor.path(word), "line": 3, "function": "f"},
    }
    assert redactor.text(f"allocated at {word}:3, kept") == f"allocated at {redactor.path(word)}:3, kept"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("oom is empty, in oom", " is empty, in oom"),
        ("'oom' cannot be opened", "' cannot be opened"),
        ("oom: in", ": in"),
    ],
)
def test_an_error_begins_with_its_file(text: str, rest: str) -> None:
    redacted = Redactor(["oom"]).error(text)

    assert redacted.endswith(rest)
    assert not redacted.lstrip("'").startswith("oom")


@pytest.mark.parametrize(
    "function", ["/home/bob/secret/fn.<locals>", "/home/bob b/secret fn", "C:\\bob\\secret", "secret/x operator/(T)"]
)
def test_a_function_named_for_a_path_is_left_out_whole(function: str) -> None:
    redactor = Redactor([], [("/x/a.py", 1, function)])

    for told in (redactor.frame(("/x/a.py", 1, function))[2], redactor.json({"function": function})["function"]):
        assert told == redactor.path(function)
    assert "secret" not in redactor.text(f"(file {function})")


def test_operators_of_cpp_are_no_paths() -> None:
    assert Redactor([]).frame(("x.cpp", 1, "operator/(at::Tensor)"))[2] == "operator/(at::Tensor)"


def test_paths_nobody_told_of_are_left_out_and_links_stay() -> None:
    text = Redactor([]).text("conf /home/bob/secret:1, https://pytorch.org/docs/x.html, 3 MiB/s")

    assert "bob" not in text
    assert text.endswith(":1, https://pytorch.org/docs/x.html, 3 MiB/s")
