"""Every test of this folder that takes `python` runs with each release of `make test`, or those that
GAPLESS_VIRTUAL_RELEASES names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.differential.libraries import UnavailableError
from tests.virtual.environments import IN_MAKE_TEST, python_of

if TYPE_CHECKING:
    from pathlib import Path


RELEASES = os.environ.get("GAPLESS_VIRTUAL_RELEASES", "").split() or IN_MAKE_TEST


@pytest.fixture(params=RELEASES, scope="session")
def python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of an environment with a CUDA build of PyTorch."""
    return _python_of(request.param)


@pytest.fixture(scope="session")
def newest() -> Path:
    """The same with the last of the releases alone, for what does not depend on it."""
    return _python_of(RELEASES[-1])


def _python_of(release: str) -> Path:
    try:
        return python_of(release)
    except UnavailableError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
