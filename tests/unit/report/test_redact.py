"""Nothing of a path stays in a redacted report."""

from __future__ import annotations

import json
from typing import Any

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
    redactor = Redactor(paths)

    for redacted in (redactor.text(text), json.dumps(redactor.json({"a": [text, {"file": paths[0]}]}))):
        for path in paths:
            assert path not in redacted
            assert path.replace("\\", "/").rpartition("/")[2] not in redacted


@given(st.lists(_PATHS, min_size=2, max_size=5, unique=True))
def test_different_files_have_different_names(paths: list[str]) -> None:
    redactor = Redactor(paths)

    assert len({redactor.text(f"{path}:1") for path in paths}) == len(paths)


def test_a_name_of_another_file_is_not_cut() -> None:
    redactor = Redactor(["/x/a.py"])

    assert redactor.text("a.py:1 data.py:2 /y/a.pyx") == f"{redactor.text('/x/a.py')}:1 data.py:2 /y/a.pyx"


def test_the_longer_path_goes_first() -> None:
    redactor = Redactor(["/x", "/x/y.py"])

    assert "y.py" not in redactor.text("/x/y.py")


def test_values_that_are_no_text_stay() -> None:
    value: dict[str, Any] = {"a": 1, "b": None, "c": [2.5, True], "path": "unknown"}

    assert Redactor(["/x/a.py"]).json(value) == value


def test_without_paths_nothing_changes() -> None:
    assert Redactor([]).text("a b") == "a b"


def test_a_path_that_is_not_text_is_redacted() -> None:
    path = "/home/caf\udce9/a.py"

    assert Redactor([path]).text(f"{path}:3").startswith("file-")
