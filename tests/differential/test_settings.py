"""Our reading of settings strings against the real one of the newest release, inside the normal tests."""

from __future__ import annotations

import os

import pytest

from gapless.conf import Release
from tests.differential import build, settings
from tests.differential.libraries import UnavailableError

VERSION = os.environ.get("GAPLESS_DIFFERENTIAL_RELEASE", "2.14.1")


@pytest.fixture(scope="module", autouse=True)
def _probe() -> None:
    try:
        build.program(VERSION, settings.PROBE)
    except UnavailableError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the libraries of PyTorch {VERSION} cannot be had: {error}")


def test_random_texts_are_read_as_the_real_library_reads_them() -> None:
    assert list(settings.differences(VERSION, 400, seed=1)) == []


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("max_split_size_mb:64", "max_split_size_mb:65"),
        ("max_split_size_mb:5", "max_split_size_mb:64"),
        ("max_split_size_mb:64", "max_split_size_mb:5"),
        ("nonsense:1", "nonsense2:1"),
        ("expandable_segments:True", "expandable_segments:False"),
    ],
)
def test_a_wrong_reading_is_found(text: str, other: str) -> None:
    """The comparison itself."""
    answer = settings.probe(build.program(VERSION, settings.PROBE), [[text]])[0]

    assert settings.difference([text], answer, Release.parse(VERSION)) == ""
    assert settings.difference([other], answer, Release.parse(VERSION)) != ""
