"""The stub of the extension names what the extension has, no more and no less."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from gapless import _core
from tests.repo.tree import read

STUB = Path("src/gapless/_core.pyi")
Names = dict[str, set[str]]  # public name -> public members; empty for what is not a class


def names_of_stub(text: str) -> Names:
    """Public names that a stub declares."""
    return {name: {n for n, _ in declared(node)} for name, node in declared(ast.parse(text))}


def declared(parent: ast.AST) -> list[tuple[str, ast.AST]]:
    """Public names declared right below a node, each with its own node."""
    found: list[tuple[str, ast.AST]] = []
    for node in ast.iter_child_nodes(parent) if isinstance(parent, ast.Module | ast.ClassDef) else ():
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.append((node.name, node))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.append((node.target.id, node))
        elif isinstance(node, ast.Assign):
            found.extend((target.id, node) for target in node.targets if isinstance(target, ast.Name))
    return [(name, node) for name, node in found if not name.startswith("_")]


def names_of_module() -> Names:
    """Public names that the built extension has."""
    return {
        name: {n for n in vars(value) if not n.startswith("_")} if inspect.isclass(value) else set()
        for name, value in vars(_core).items()
        if not name.startswith("_")
    }


def test_stub_names_what_the_extension_has() -> None:
    module = names_of_module()

    assert module
    assert names_of_stub(read(STUB)) == module, "run 'make stub'"


def test_a_name_that_is_missing_is_found() -> None:
    text = "import x\nA: int\nclass B:\n    b: int\n    @property\n    def c(self) -> int: ...\ndef _d() -> None: ..."

    assert names_of_stub(text) == {"A": set(), "B": {"b", "c"}}
