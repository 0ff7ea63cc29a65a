"""The public names of Gapless are few and listed here: adding or removing one is a decision, not an accident."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import gapless

PUBLIC = {"__version__", "record"}
MODULES = sorted(module.name for module in pkgutil.walk_packages(gapless.__path__, "gapless."))


def test_public_names_are_these() -> None:
    found = set(getattr(gapless, "__all__", ())) or {
        name for name, value in vars(gapless).items() if not name.startswith("_") and not inspect.ismodule(value)
    }

    assert found | {"__version__"} == PUBLIC
    assert set(dir(gapless)) >= PUBLIC


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_every_module_imports_and_keeps_what_it_lists(name: str) -> None:
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", [])

    assert [entry for entry in listed if not hasattr(module, entry)] == []
    assert len(listed) == len(set(listed))
    assert module.__doc__, "a file's first lines say what it is"
