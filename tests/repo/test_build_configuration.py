"""What the build is asked to make, and with what."""

from __future__ import annotations

import re
from pathlib import Path

from tests.repo.tree import read, read_toml, tracked_files


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


def test_workflows_pin_actions_and_ask_for_no_rights() -> None:
    workflows = [path for path in tracked_files() if path.parts[:2] == (".github", "workflows")]

    assert [path.name for path in workflows] == ["ci.yml", "wheels.yml"]
    for path in workflows:
        text = read(path)
        assert "\npermissions: {}\n" in text
        uses = re.findall(r"uses: (\S+)", text)
        assert uses
        assert [use for use in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", use)] == []


def test_core_has_no_code_for_one_processor_alone() -> None:
    only_one = re.compile(
        r"\b(__builtin_ia32_\w+|__asm__|asm|_mm\d*_\w+|__SSE\w*|__AVX\w*|__ARM_NEON)\b|\w*intrin\.h|arm_neon\.h"
    )
    folders, endings = {"core", "bindings"}, {".h", ".cpp"}
    sources = [path for path in tracked_files() if path.parts[0] in folders and path.suffix in endings]

    assert [f"{path}: {match[0]}" for path in sources for match in only_one.finditer(read(path))] == []
    assert only_one.search("#include <immintrin.h>")
