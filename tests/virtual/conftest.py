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
    try:
        return python_of(request.param)
    except UnavailableError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(str(error))
        pytest.skip(str(error))
