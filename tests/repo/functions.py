"""Functions of a source file with their sizes: Python from the syntax tree, C++ from its braces.

The C++ scanner is no compiler. It blanks comments, literals and preprocessor lines, then takes a brace for a function's
body when what stands before it ends like a function's head. Lambdas count with the function around them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """A function, the lines of its body and how many parameters it takes."""

    name: str
    line: int
    lines: int
    parameters: int


def python_functions(text: str) -> Iterator[Function]:
    """Functions and methods; lines are those of the body without its docstring, self and cls do not count."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            arguments = node.args
            named = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
            yield Function(node.name, node.lineno, lines, len([a for a in named if a not in {"self", "cls"}]))


BLANKED = re.compile(
    r"""
      //(?:\\\n|[^\n])*                                      # comment to the end of the line
    | /\*.*?\*/                                              # comment
    | R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"                # raw string
    | "(?:\\.|[^"\\\n])*"                                    # string
    | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'                    # character; not the mark in 1'000
    | ^[ \t]*\#(?:\\\n|[^\n])*                               # preprocessor
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
NOT_A_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|extern|if|for|while|switch|catch|do|else|try)\b")
NOT_A_NAME = {"alignas", "decltype", "noexcept", "requires", "explicit", "__attribute__", "sizeof"}
NAME = re.compile(r"(operator\s*(?:\(\s*\)|[^\s(]+)|~?[A-Za-z_][\w:~]*)\s*\(")


def cpp_functions(text: str) -> Iterator[Function]:
    """Functions with a body; lines run from the opening brace to the closing one."""
    text = BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    begin = position = 0  # of the head that is being read
    while position < len(text):
        char = text[position]
        if char in ";}":
            begin = position + 1
        elif char == "{":
            end = closing(text, position)
            head = text[begin:position]
            if is_head(head):
                name, parameters = name_and_parameters(head)
                if "GAPLESS_API" in head:  # stands in for a function of NVIDIA's, whose signature it has
                    parameters = 0
                line = text.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1
                yield Function(name, line, text.count("\n", position, end) + 1, parameters)
                position, begin = end, end + 1
            elif opens_scope(head):
                begin = position + 1
            else:
                position = end  # a braced value: x{1}, = {..}, or a member's initialiser
        elif char == "(":
            position = closing(text, position)
        position += 1


def closing(text: str, position: int) -> int:
    """Index of the bracket that closes the one at `position`; the text's end when there is none."""
    opener, closer = text[position], {"(": ")", "{": "}"}[text[position]]
    depth = 0
    for index in range(position, len(text)):
        depth += (text[index] == opener) - (text[index] == closer)
        if depth == 0:
            return index
    return len(text)


def opens_scope(head: str) -> bool:
    """Whether the brace after this head holds declarations: a namespace or a type."""
    return re.search(r"\b(namespace|class|struct|union|extern)\b", head) is not None and not re.search(r"=\s*$", head)


def is_head(head: str) -> bool:
    """Whether this text, up to a brace, is the head of a function."""
    before_parameters = head.partition("(")[0]
    if "(" not in head or NOT_A_FUNCTION.search(re.sub(r"template\s*<[^>]*>", "", before_parameters)):
        return False
    # What may stand between the parameters and the body; a list of initialisers ends with a bracket of its own.
    return re.search(
        r"[)}]\s*(const|noexcept|override|final|mutable|&|->[^;]*|requires[^;]*|\s)*$", head
    ) is not None and (not re.search(r"=\s*(\[|$)", before_parameters))


def name_and_parameters(head: str) -> tuple[str, int]:
    """Name of a function and the number of its parameters."""
    for match in NAME.finditer(head):
        if match[1] not in NOT_A_NAME:
            opening = match.end() - 1
            return match[1], count_arguments(head[opening + 1 : closing(head, opening)])
    return "?", 0


def count_arguments(inside: str) -> int:
    """Number of parts that commas outside of brackets divide; brackets of templates are brackets."""
    depth = 0
    commas = 0
    for char in inside:
        depth += (char in "(<[{") - (char in ")>]}")
        commas += char == "," and depth == 0
    return commas + 1 if inside.strip() not in {"", "void"} else 0
