"""The JSON Schemas of docs/reference, and documents checked against the one that they name."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.recordings import ROOT

FOLDER = ROOT / "docs" / "reference"
SUFFIX = ".schema.json"


def schemas() -> dict[str, Any]:
    """Every schema by its file's name; they refer to each other so."""
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob(f"*{SUFFIX}"))}


def file_of(schema: str) -> str:
    """The file of a schema.

    >>> file_of("gapless.explain/1")
    'gapless.explain-1.schema.json'
    """
    return schema.replace("/", "-") + SUFFIX


def validate(document: Any, schema: str | None = None) -> None:
    """Raises where a document is not as the schema says that it names, or that is given."""
    known = schemas()
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in known.items()
    )
    Draft202012Validator(known[file_of(schema or document["schema"])], registry=registry).validate(document)
