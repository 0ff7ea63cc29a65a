"""Every example in a docstring of the package says what really comes out."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import gapless

LEAST_EXAMPLES = 40
"""There are more; fewer found means that they are not looked for where they are."""


def test_examples_in_docstrings_are_true() -> None:
    names = [module.name for module in pkgutil.walk_packages(gapless.__path__, "gapless.")]
    results = [doctest.testmod(importlib.import_module(name)) for name in names if not name.endswith("__main__")]

    assert sum(result.failed for result in results) == 0
    assert sum(result.attempted for result in results) >= LEAST_EXAMPLES
