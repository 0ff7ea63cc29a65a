"""Telling that a module is imported, before and after, by a finder that finds nothing itself.

It is there for one import and then gone. Several of them may wait for one module: who came last is told first before
the import, and last after it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def on_import(name: str, then: Callable[[ModuleType], None], before: Callable[[], None] | None = None) -> None:
    """Call `before` when a module is about to be imported, and `then` with the module when it is.

    Args:
        name: A module of the top level, not imported yet.
        then: Called inside the import statement, so that what it raises ends the import.
        before: The same, before any of the module's code runs.
    """
    sys.meta_path.insert(0, _Waiting(name, then, before))


class _Waiting(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, then: Callable[[ModuleType], None], before: Callable[[], None] | None) -> None:
        self._name, self.then, self.before = name, then, before
        self._is_looking = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Let the others find it, and follow its loader. Who only asks whether it is there does not import it."""
        if fullname != self._name or self._is_looking:
            return None
        self._is_looking = True
        try:
            spec = _found_by_others(self, fullname, path, target)
        finally:
            self._is_looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Follow(spec.loader, self)
        return spec


def _found_by_others(
    but: object, fullname: str, path: Sequence[str] | None, target: ModuleType | None
) -> importlib.machinery.ModuleSpec | None:
    for finder in [one for one in sys.meta_path if one is not but and hasattr(one, "find_spec")]:
        spec = finder.find_spec(fullname, path, target)
        if spec is not None:
            return spec
    return None


class _Follow(importlib.abc.Loader):
    """A loader that tells before and after its module is made."""

    def __init__(self, loader: Any, waiting: _Waiting) -> None:
        self._loader = loader
        self._waiting = waiting

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """As the loader that was found."""
        if self._waiting in sys.meta_path:
            sys.meta_path.remove(self._waiting)
            if self._waiting.before is not None:
                self._waiting.before()
        return self._loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        """As the loader that was found."""
        self._loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._waiting.then(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
