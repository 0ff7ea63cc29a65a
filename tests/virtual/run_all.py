"""The tests of the virtual GPU with every release that it serves, one after the other.

    python -m tests.virtual.run_all [RELEASE...]

An environment of 1 to 2 GB is made for each release and removed after its tests, unless it was there before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.differential.libraries import RELEASES, UnavailableError, minor_release
from tests.virtual.environments import IN_MAKE_TEST, folder_of, python_of

SERVED = [release for release in RELEASES if minor_release(release) >= (2, 6)]


def test(release: str) -> bool:
    """Whether all tests pass."""
    python_of(release)
    env = {**os.environ, "GAPLESS_VIRTUAL_RELEASES": release}
    command = [sys.executable, "-m", "pytest", "-q", str(Path(__file__).parent)]
    return subprocess.run(command, env=env, check=False).returncode == 0


def main(releases: list[str]) -> int:
    """Test them; 1 where one failed."""
    failed = []
    for release in releases or SERVED:
        was_there = folder_of(release).exists()
        print(f"-- PyTorch {release}", flush=True)
        try:
            if not test(release):
                failed.append(release)
        except UnavailableError as error:
            print(error, file=sys.stderr)
            failed.append(release)
        if not was_there and release not in IN_MAKE_TEST:
            shutil.rmtree(folder_of(release), ignore_errors=True)
    print(f"{len(releases or SERVED) - len(failed)} of {len(releases or SERVED)} releases pass", *failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
