"""The PyTorch that is installed: found without importing it, and checked against what the pretend card offers."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import gapless._core
from gapless.errors import InputError
from gapless.virtual.elf import read_exports, read_requirements

_ANY_CUDA = re.compile(r"lib(cu\w+|nv\w+|nccl)\.so\.\d+")
_DRIVER_NAMES = re.compile(r"cu[A-Z]\w+|nccl\w+|cuFile\w+|cusparseLt\w+|nvshmem\w+")
_FIRST = ("libgapless_card.so", "libcuda.so.1", "libcudart.so", "libnvidia-ml.so.1")
"""Loaded in this order before all others, which are linked with them."""
_MOST_NAMES = 12
OTHERWISE = "gapless explain, replay and tune need neither a GPU nor PyTorch: give them a recording or a log"


@dataclass(frozen=True)
class TorchBuild:
    """An installed PyTorch that the pretend card can serve."""

    version: str
    """Like 2.14.1+cu130."""
    folder: Path
    cuda: str
    """The CUDA release that it is built for, like 13.0."""
    cudnn: int
    """The cuDNN release that it asks for, as one number: 91300 for 9.13.0."""
    libraries: list[Path]
    """The stand-ins that it needs, in the order in which they are loaded."""


def libraries_folder() -> Path:
    """Where the stand-ins are: beside the compiled core."""
    return Path(gapless._core.__file__ or "").parent / "virtual" / "libraries"


def find_torch() -> TorchBuild:
    """Find the installed PyTorch and check that nothing that it needs is missing.

    Raises:
        InputError: There is none, it is no CUDA build, the system is not Linux on x86-64, or it needs functions that
            the stand-ins lack; the message names them.
    """
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise InputError(
            f"the virtual GPU runs PyTorch's CUDA builds for Linux on x86-64; this is {platform.system()} on "
            f"{platform.machine()}",
            hint=f"use a Linux machine or container (WSL will do); {OTHERWISE}",
        )
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise InputError(
            f"PyTorch is not installed in this Python ({sys.executable})",
            hint=f"pip install torch (a CUDA build; no GPU is needed); {OTHERWISE}",
        )
    folder = Path(spec.origin).parent
    facts = _facts(folder)
    _refuse_other_builds(facts)
    return TorchBuild(
        version=facts["__version__"],
        folder=folder,
        cuda=facts["cuda"],
        cudnn=_cudnn(),
        libraries=_stand_ins(folder, facts["__version__"]),
    )


def _facts(folder: Path) -> dict[str, str]:
    """What torch/version.py says, read as text."""
    text = (folder / "version.py").read_text(encoding="utf-8", errors="replace")
    found = re.findall(r"^(\w+)(?:\s*:[^=\n]*)?\s*=\s*['\"]([^'\"\n]*)['\"]", text, re.MULTILINE)
    return {"__version__": "unknown", "cuda": "", "hip": "", **dict(found)}


def _refuse_other_builds(facts: dict[str, str]) -> None:
    version = facts["__version__"]
    if facts["hip"]:
        raise InputError(
            f"PyTorch {version} is a build for AMD's ROCm; the virtual GPU stands in for NVIDIA's libraries only",
            hint=f"pip install torch in an environment of its own for a CUDA build; {OTHERWISE}",
        )
    if not facts["cuda"]:
        raise InputError(
            f"PyTorch {version} is a build for the CPU alone, so none of its code for GPUs is there to be run",
            hint="pip install torch from PyPI in an environment of its own (a CUDA build; no GPU is needed)",
        )


def _cudnn() -> int:
    """The release of cuDNN that the installed PyTorch names among its requirements."""
    default = 90100
    try:
        requirements = importlib.metadata.requires("torch") or []
    except importlib.metadata.PackageNotFoundError:
        return default
    for requirement in requirements:
        match = re.match(r"nvidia-cudnn-cu\d+\s*==\s*(\d+)\.(\d+)\.(\d+)", requirement)
        if match:
            major, minor, patch = map(int, match.groups())
            return major * 10000 + minor * 100 + patch
    return default


def _stand_ins(folder: Path, version: str) -> list[Path]:
    ours = libraries_folder()
    if not (ours / _FIRST[0]).exists():
        raise InputError(
            f"this build of Gapless is without the pretend card ({ours} is not there)",
            hint="install the wheel for Linux on x86-64, or build from source there",
        )
    needed, missing = _needs(folder, ours)
    if missing:
        lines = [f"{library}: {', '.join(sorted(names)[:_MOST_NAMES])}" for library, names in sorted(missing.items())]
        raise InputError(
            f"PyTorch {version} needs what the pretend card does not have: {'; '.join(lines)}",
            hint="use one of the releases 2.6 to 2.14 as pip installs them, or report the names above",
        )
    return [ours / name for name in sorted(needed, key=_place)]


def _place(name: str) -> tuple[int, str]:
    return next((i for i, first in enumerate(_FIRST) if name.startswith(first)), len(_FIRST)), name


def _needs(folder: Path, ours: Path) -> tuple[set[str], dict[str, set[str]]]:
    """Names of libraries that PyTorch's own ask for, and per library what the stand-ins do not offer."""
    offered = {path.name: read_exports(path) for path in ours.glob("*.so*")}
    anywhere = set().union(*offered.values())
    needed, missing = {_FIRST[0], _FIRST[1], _FIRST[3]}, dict[str, set[str]]()
    for path in sorted((folder / "lib").glob("*.so")):
        requirements = read_requirements(path)
        needed |= {name for name in requirements.libraries if _ANY_CUDA.fullmatch(name)}
        for library, names in requirements.symbols.items():
            if _ANY_CUDA.fullmatch(library):
                lacking = names - offered.get(library, set())
            else:
                lacking = {name for name in names - anywhere if _DRIVER_NAMES.fullmatch(name)}
            if lacking:
                missing.setdefault(library or path.name, set()).update(lacking)
    for library in sorted(needed - set(offered)):
        missing.setdefault(library, {"the whole library"})
    return needed, missing
