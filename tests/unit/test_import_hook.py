"""Telling that a module is imported."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING

import pytest

from gapless.import_hook import on_import

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "a_module_for_this_test"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A module that can be imported, and what happens in order."""
    (tmp_path / f"{NAME}.py").write_text("import builtins\nbuiltins.told.append('runs')\nvalue = 3\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    told: list[str] = []
    monkeypatch.setattr("builtins.told", told, raising=False)
    before = list(sys.meta_path)
    yield told
    sys.modules.pop(NAME, None)
    assert sys.meta_path == before, "the finder is gone"


def test_both_sides_of_an_import_are_told(module: list[str]) -> None:
    on_import(NAME, lambda found: module.append(f"is there: {found.value}"), before=lambda: module.append("comes"))
    imported = importlib.import_module(NAME)

    assert module == ["comes", "runs", "is there: 3"]
    assert type(imported.__spec__.loader).__module__ != "gapless.import_hook", "the module is as without us"


def test_two_may_wait(module: list[str]) -> None:
    on_import(NAME, lambda _: module.append("first there"), before=lambda: module.append("first comes"))
    on_import(NAME, lambda _: module.append("second there"), before=lambda: module.append("second comes"))
    importlib.import_module(NAME)

    assert module == ["second comes", "first comes", "runs", "first there", "second there"]


def test_who_only_asks_whether_it_is_there_imports_nothing(module: list[str]) -> None:
    on_import(NAME, lambda _: module.append("is there"))

    assert importlib.util.find_spec(NAME) is not None
    assert importlib.util.find_spec(NAME) is not None
    assert module == []
    importlib.import_module(NAME)
    assert module == ["runs", "is there"]


def test_a_module_that_is_not_there_is_still_not_there() -> None:
    on_import("no_such_module_at_all", lambda _: pytest.fail("it is not there"))
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("no_such_module_at_all")
    sys.meta_path.pop(0)
