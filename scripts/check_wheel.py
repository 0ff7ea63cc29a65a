"""Build a wheel and try it as a user meets it: in a fresh environment with no compiler on the PATH.

`python scripts/check_wheel.py` leaves the wheel in dist/ and says what it found. The environment borrows the packages
that Gapless depends on from the one that runs this script, so nothing is downloaded.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MIB_MOST = 10
PROBE = "import gapless, gapless._core, sys; assert 'torch' not in sys.modules; print(gapless.__file__)"


def build_wheel(into: Path) -> Path:
    """Build the wheel of this checkout with the tools of this environment; other wheels of `into` are removed."""
    for old in into.glob("gapless-*.whl"):
        old.unlink()
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "wheel"]
    subprocess.run([*pip, "--no-deps", "--no-build-isolation", "-w", str(into), str(ROOT)], check=True)
    (wheel,) = into.glob("gapless-*.whl")
    return wheel


def complaints(wheel: Path) -> list[str]:
    """What is wrong with a wheel, seen from outside."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    found = []
    if wheel.stat().st_size > MIB_MOST << 20:
        found.append(f"{wheel.name} has {wheel.stat().st_size >> 20} MiB, at most {MIB_MOST} are allowed")
    if sys.version_info >= (3, 12) and "-cp312-abi3-" not in wheel.name:
        found.append(f"{wheel.name} is not for the stable ABI of Python 3.12 and later")
    needed = ("gapless/_core.pyi", "gapless/py.typed", "gapless_record.pth")
    found += [f"{name} is missing" for name in needed if name not in names]
    ours = ("gapless/", "gapless-", "gapless_record.pth")
    found += [f"{name} does not belong there" for name in names if not name.startswith(ours)]
    for text in ("LICENSE", "licenses/nanobind.txt", "licenses/robin-map.txt"):
        if not any(name.endswith(f".dist-info/licenses/{text}") for name in names):
            found.append(f"{text} is missing")
    required = Parser().parsestr(metadata).get_all("Requires-Dist", [])
    found += [f"the wheel requires {line}" for line in required if line.startswith(("torch", "nvidia"))]
    return found


def run_apart(wheel: Path, command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of a fresh environment in `folder` that has the wheel, its dependencies and no compiler."""
    environment = folder / "venv"
    if not environment.exists():
        venv.create(environment, symlinks=True)
        python = str(environment / "bin/python")
        pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "--python", python, "install"]
        subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
        (site,) = environment.glob("lib/python3*/site-packages")
        (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    paths = {"PATH": str(environment / "bin"), "HOME": str(folder)}
    command = [str(environment / "bin" / command[0]), *command[1:]]
    return subprocess.run(command, cwd=folder, env=paths, capture_output=True, text=True, check=False)


def main() -> int:
    """Build into dist/, check, report."""
    wheel = build_wheel(ROOT / "dist")
    found = complaints(wheel)
    with tempfile.TemporaryDirectory() as folder:
        done = run_apart(wheel, ["python", "-c", PROBE], Path(folder))
        if done.returncode or not done.stdout.startswith(folder):
            found.append(f"it does not run in a fresh environment: {done.stdout}{done.stderr}")
    for line in found:
        print(line, file=sys.stderr)
    if not found:
        print(f"dist/{wheel.name}: {wheel.stat().st_size / (1 << 20):.2f} MiB, runs without a compiler, needs no torch")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
