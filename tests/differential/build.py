"""Builds the harness around one PyTorch release's own libc10_cuda.so and our stand-in device.

    python -m tests.differential.build 2.14.1 2.6.0        "--newest": the one of `make test`; nothing: every release

Needed: x86-64 Linux, gcc and g++, and the package index the first time. Says what it downloads, and is silent when
there is nothing to do.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.differential import libraries
from tests.differential.libraries import RELEASES, UnavailableError

_HERE = Path(__file__).parent
_SOURCES = sorted([_HERE / "harness.cpp", *(_HERE / "standin").rglob("*.[ch]")])


def harness(version: str) -> Path:
    """The program for one release, built if there is none of these sources. Raises UnavailableError with the reason."""
    folder = libraries.cache_folder() / f"harness-{version}-{_fingerprint()}"
    if not folder.exists():
        if sys.platform != "linux" or platform.machine() != "x86_64":
            raise UnavailableError("the real allocator's libraries exist for x86-64 Linux only")
        print(f"building the harness around the allocator of PyTorch {version} ...", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=_made(folder.parent), prefix="build-") as scratch:
            made = Path(scratch) / "harness"
            made.mkdir()
            _build(version, made)
            libraries.settle(made, folder)
    return folder / "harness"


def _build(version: str, folder: Path) -> None:
    torch = libraries.torch_folder(version) / "torch"
    for name in ("libc10.so", "libc10_cuda.so"):  # found from where the finished folder will be
        (folder / name).symlink_to(Path("..") / torch.relative_to(libraries.cache_folder()) / "lib" / name)
    runtime = _needed_runtime(torch / "lib/libc10_cuda.so")

    versions = folder / "versions.map"  # libc10_cuda.so asks for symbols of this version
    versions.write_text(f"{runtime} {{ global: *; }};\n")
    compile_c = ["gcc", "-O2", "-w", "-fPIC", "-shared"]
    _compile(
        [*compile_c, _HERE / "standin/device_runtime.c", f"-Wl,-soname,{runtime}", f"-Wl,--version-script,{versions}"],
        folder / runtime,
    )
    _compile([*compile_c, _HERE / "standin/nvml.c", "-Wl,-soname,libnvidia-ml.so.1"], folder / "libnvidia-ml.so.1")
    (folder / "libcuda.so.1").symlink_to(runtime)

    _compile_program(version, folder, _HERE / "harness.cpp", folder / "harness")


def program(version: str, source: Path) -> Path:
    """Another program around the same libraries, built beside the harness if there is none of this source."""
    folder = harness(version).parent
    output = folder / f"{source.stem}-{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}"
    if not output.exists():
        _compile_program(version, folder, source, output)
    return output


def _compile_program(version: str, folder: Path, source: Path, output: Path) -> None:
    torch = libraries.torch_folder(version) / "torch"
    runtime = _needed_runtime(torch / "lib/libc10_cuda.so")
    cuda_headers = libraries.cuda_include_folder(int(runtime.rpartition(".")[2]))
    major, minor = libraries.minor_release(version)
    includes = [f"-I{path}" for path in (torch / "include", _HERE / "standin", cuda_headers)]
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(not _has_old_strings(torch / 'lib/libc10.so'))}"
    link = [f"-L{torch}/lib", f"-L{folder}", "-lc10_cuda", "-lc10", f"-l:{runtime}"]
    link += ["-Wl,-rpath,$ORIGIN", "-Wl,--allow-shlib-undefined"]
    compile_cpp = ["g++", "-std=c++20", "-O1", "-w", f"-DRELEASE={major * 100 + minor}", abi, *includes]
    _compile([*compile_cpp, source, *link], output)


def _compile(command: list[str | Path], output: Path) -> None:
    try:
        done = subprocess.run([*command, "-o", output], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise UnavailableError(f"{command[0]} is not installed (on Debian: apt install gcc g++)") from error
    if done.returncode:
        raise UnavailableError(f"{output.name} does not compile:\n{done.stderr[-2000:]}")


def _needed_runtime(library: Path) -> str:
    """The CUDA runtime that a library was linked against, for example libcudart.so.12."""
    found = re.search(rb"libcudart\.so\.\d+", library.read_bytes())
    if not found:
        raise UnavailableError(f"{library} names no libcudart.so")
    return found[0].decode()


def _has_old_strings(library: Path) -> bool:
    """Whether a library was built with the std::string from before C++11, as PyTorch was up to 2.6."""
    return b"_ZN3c105ErrorC1ENS_14SourceLocationESs" in library.read_bytes()


def _fingerprint() -> str:
    sources = b"".join(path.read_bytes() for path in [Path(__file__), *_SOURCES])
    return hashlib.sha256(sources).hexdigest()[:12]


def _made(folder: Path) -> Path:
    os.makedirs(folder, exist_ok=True)
    return folder


def main(versions: list[str]) -> int:
    """Build what is not built yet of the named releases."""
    for version in RELEASES[-1:] if versions == ["--newest"] else versions or RELEASES:
        try:
            harness(version)
        except UnavailableError as error:
            print(f"the real allocator of PyTorch {version} cannot be had: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
