"""What the build is asked to make, and with what."""

from __future__ import annotations

from pathlib import Path

from tests.repo.tree import read, read_toml


def test_releases_are_built_for_both_architectures() -> None:
    pyproject = read_toml(Path("pyproject.toml"))
    wheels = pyproject["tool"]["cibuildwheel"]

    assert wheels["linux"]["archs"] == ["x86_64", "aarch64"]
    assert wheels["build"] == ["cp310-manylinux*", "cp311-manylinux*", "cp312-manylinux*"]
    assert wheels["manylinux-x86_64-image"] == wheels["manylinux-aarch64-image"] == "manylinux_2_28"
    assert pyproject["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"


def test_build_requirements_are_the_same_everywhere() -> None:
    pyproject = read_toml(Path("pyproject.toml"))
    listed = [line for line in read(Path("scripts/requirements-run.txt")).splitlines() if not line.startswith("#")]

    assert listed[:2] == pyproject["build-system"]["requires"]
    assert set(pyproject["project"]["dependencies"]) <= set(listed)
