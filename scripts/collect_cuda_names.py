"""Collect the names that PyTorch's wheels need from NVIDIA's libraries into virtual_gpu/names, one file a library.

    python scripts/collect_cuda_names.py WHEEL_OR_FOLDER... [--headers INCLUDE_FOLDER...]

Names already there stay: the stand-ins serve all releases at once. Of the driver and the runtime, which extensions of
users call as well, every function of the headers is taken.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import zipfile
from pathlib import Path

from gapless.virtual.elf import read_requirements

NAMES = Path(__file__).parent.parent / "virtual_gpu/names"
# Libraries whose symbols carry no version that names them, told by prefix.
UNVERSIONED = {
    "libcuda.so.1": re.compile(r"cu(?!File|BLAS|blas|sparse|solver|rand|fft|dnn|da|pti)[A-Z]\w+"),
    "libnccl.so.2": re.compile(r"nccl[A-Z]\w+|pnccl[A-Z]\w+"),
    "libcufile.so.0": re.compile(r"cuFile\w+"),
    "libcusparseLt.so.0": re.compile(r"cusparseLt\w+"),
    "libnvshmem_host.so.3": re.compile(r"nvshmem\w+"),
}
CUDA_LIBRARY = re.compile(r"lib(cu\w+|nv\w+|nccl)\.so\.\d+")


def names_of_library(path: Path) -> dict[str, set[str]]:
    """Library -> names that one shared library needs of it."""
    needed: dict[str, set[str]] = {}
    for library, names in read_requirements(path).symbols.items():
        if CUDA_LIBRARY.fullmatch(library):
            needed.setdefault(library, set()).update(names)
        elif library in ("", "NVSHMEM"):
            for unversioned, pattern in UNVERSIONED.items():
                found = {name for name in names if pattern.fullmatch(name)}
                if found:
                    needed.setdefault(unversioned, set()).update(found)
    return needed


def names_of_wheel(wheel: Path) -> dict[str, set[str]]:
    """The same over all libraries of a wheel, unpacked one at a time."""
    needed: dict[str, set[str]] = {}
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
        for member in archive.namelist():
            if not re.fullmatch(r"\w+/(lib/)?[\w.-]+\.so(\.\d+)*", member):
                continue
            path = Path(archive.extract(member, scratch))
            for library, names in names_of_library(path).items():
                needed.setdefault(library, set()).update(names)
            path.unlink()
    return needed


def names_of_headers(folder: Path) -> dict[str, set[str]]:
    """Functions that the runtime's and the driver's headers declare."""
    runtime = (folder / "cuda_runtime_api.h").read_text(errors="replace")
    version = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", runtime)
    major = int(version[1]) // 1000 if version else 0
    functions = set(re.findall(r"\bCUDARTAPI\s+(cuda[A-Z]\w+)\s*\(", runtime))
    driver = (folder / "cuda.h").read_text(errors="replace")
    called = set(re.findall(r"\bCUDAAPI\s+(cu[A-Z]\w+)\s*\(", driver))
    # A define renames a function to its newest form.
    called |= set(re.findall(r"#define\s+cu[A-Z]\w+\s+(cu[A-Z]\w+)\s*$", driver, re.MULTILINE))
    functions |= set(re.findall(r"#define\s+cuda[A-Z]\w+\s+(cuda[A-Z]\w+_v\d+)\s*$", runtime, re.MULTILINE))
    return {f"libcudart.so.{major}": functions, "libcuda.so.1": called}


def add_to_tables(needed: dict[str, set[str]]) -> None:
    """Write what is new."""
    NAMES.mkdir(parents=True, exist_ok=True)
    for library, names in sorted(needed.items()):
        table = NAMES / f"{library}.txt"
        known = set(table.read_text().split()) if table.exists() else set()
        if names - known:
            print(f"{library}: {len(names - known)} new of {len(names)}")
            table.write_text("".join(f"{name}\n" for name in sorted(known | names)))


def main() -> int:
    """Read what is named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", type=Path, help="wheels, or folders with shared libraries")
    parser.add_argument("--headers", nargs="*", type=Path, default=[], help="include folders of the CUDA runtime")
    options = parser.parse_args()
    for source in options.sources:
        print(f"-- {source.name}", flush=True)
        if source.suffix == ".whl":
            add_to_tables(names_of_wheel(source))
        else:
            for library in sorted(source.glob("*.so*")):
                add_to_tables(names_of_library(library))
    for folder in options.headers:
        add_to_tables(names_of_headers(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
