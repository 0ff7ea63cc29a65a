"""What a file imports: Python by its syntax tree, C++ by its include lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


@dataclass(frozen=True)
class Import:
    """One imported module, by its full dotted name."""

    module: str
    line: int
    at_module_level: bool


def python_imports(text: str, *, package: str) -> list[Import]:
    """Imports of a module that lies in `package`, those inside functions and type checks included.

    `from gapless import units` is an import of gapless.units; relative names are made absolute.
    """
    return list(_imports(ast.parse(text), package, at_module_level=True))


def _imports(node: ast.AST, package: str, *, at_module_level: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, child.lineno, at_module_level)
        elif isinstance(child, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - child.level + 1] if child.level else []
            source = ".".join([*base, *([child.module] if child.module else [])])
            for alias in child.names:
                yield Import(f"{source}.{alias.name}", child.lineno, at_module_level)
        else:
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(child, package, at_module_level=at_module_level and not is_function)


def cpp_includes(text: str) -> list[tuple[str, bool]]:
    """Included names in order, each with whether it is of the project (in quotes)."""
    return [(name, quote == '"') for quote, name in INCLUDE.findall(text)]
