"""Our allocator against the real one of a release, inside the normal tests: a few random programs of each profile.

GAPLESS_DIFFERENTIAL_RELEASE names another release than the newest; run_all.py compares all of them at length.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.differential import build, compare, model, oracle, run_all, scripts
from tests.differential.libraries import RELEASES, UnavailableError, minor_release

VERSION = os.environ.get("GAPLESS_DIFFERENTIAL_RELEASE", RELEASES[-1])
SEEDS = range(1000, 1008)  # others than run_all's


@pytest.fixture(scope="module")
def harness() -> Path:
    try:
        return build.harness(VERSION)
    except UnavailableError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the real allocator of PyTorch {VERSION} cannot be had: {error}")


@pytest.mark.parametrize("profile", scripts.PROFILES)
def test_every_decision_and_statistic_equals_the_real_allocators(harness: Path, profile: str) -> None:
    release = minor_release(VERSION)
    if release < scripts.PROFILES[profile].since:
        pytest.skip(f"PyTorch {VERSION} has no settings of the profile {profile}")
    for seed in SEEDS:
        program = scripts.script(profile, seed, release)

        ours = model.run(program, release, scripts.PROFILES[profile].capacity_bytes)

        real = oracle.run(harness, ours.operations, scripts.PROFILES[profile].capacity_bytes)
        difference = compare.first_difference(real, ours.lines)
        assert difference is None, f"{profile}, seed {seed}, {difference}"
        assert len(ours.operations) > 2000 or ours.undefined


def test_a_wrong_decision_is_found(harness: Path) -> None:
    """The comparison itself: one byte, one order, one missing line, one error too many."""
    program = ["alloc a 3000000 0", "alloc b 1000 1", "free a", "empty_cache", "stats"]
    real = oracle.run(harness, program, scripts.MIB * 100)
    right = model.run(program, minor_release(VERSION), scripts.MIB * 100).lines
    assert compare.first_difference(real, right) is None

    at_free = right.index("> free a")
    wrong = [
        [line.replace("size=3000000", "size=3000001") for line in right],
        [*right[: at_free + 1], right[at_free + 2], right[at_free + 1], *right[at_free + 3 :]],
        right[:-1],
        [*right, "error"],
    ]

    found = [compare.first_difference(real, lines) for lines in wrong]
    assert [difference.line for difference in found if difference] == [2, at_free + 1, len(right) - 1, len(right)]


def test_an_operation_that_a_release_lacks_is_an_error(harness: Path) -> None:
    assert oracle.run(harness, ["pool_melt 5"], scripts.MIB) == [
        "> pool_melt 5",
        "error this release has no operation pool_melt",
    ]


def test_the_table_tells_what_was_compared(harness: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = run_all.main(["--releases", VERSION, "--profiles", "oom", "--seeds", "5:6", "--jobs", "1"])

    _, row, total = capsys.readouterr().out.splitlines()
    assert status == 0
    assert row.split()[:3] == [VERSION, "oom", "1"]
    assert row.split()[-2:] == ["0", "0"]
    assert total.startswith("1 scripts, ")
