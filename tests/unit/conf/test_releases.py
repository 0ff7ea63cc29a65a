"""Releases: read, ordered, refused."""

from __future__ import annotations

import pytest

from gapless.conf import NEWEST, RELEASES, Release
from gapless.conf.releases import describe
from gapless.errors import ConfError


@pytest.mark.parametrize("text", ["2.9", "2.9.1", "2.9.1+cu126", " v2.9.0a0+gitabc ", "2.9.0.dev20250801"])
def test_version_is_read_down_to_its_release(text: str) -> None:
    assert Release.parse(text) == Release(2, 9)


def test_releases_order_by_number_not_by_text() -> None:
    assert Release.parse("2.9") < Release.parse("2.10")
    assert [str(release) for release in RELEASES] == [f"2.{minor}" for minor in range(15)]


def test_unknown_newer_release_is_read_as_the_newest() -> None:
    release = Release.parse("3.1")

    assert release == NEWEST
    assert release.note == "PyTorch 3.1 is not known yet; it is read as 2.14"
    assert Release.parse("2.14.1").note == ""


@pytest.mark.parametrize("text", ["", "2", "torch", "2.x", "2.9 1", "²,9", "2.99999999999", "9" * 10_000, "-2.9"])
def test_nonsense_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(ConfError, match="is not a PyTorch version") as caught:
        Release.parse(text)
    assert len(caught.value.message) < 100
    assert "2.9.1+cu126" in caught.value.hint


def test_releases_before_2_0_are_refused() -> None:
    with pytest.raises(ConfError, match=r"PyTorch 1\.13 is older than 2\.0"):
        Release.parse("1.13.1")


def test_runs_of_releases_are_joined() -> None:
    assert describe((Release(2, 1), Release(2, 2), Release(2, 3), Release(2, 9))) == "2.1 to 2.3, 2.9"
