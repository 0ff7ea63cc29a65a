"""What the replay fuzzer keeps, run as an ordinary program: its corpus, and inputs that were defects once."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.recordings import ROOT

if TYPE_CHECKING:
    from pathlib import Path

INPUTS = sorted((ROOT / "core/fuzz").glob("c*/replay/*"))
MAIN = """
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
int main(int count, char** names) {
  for (int i = 1; i < count; ++i) {
    std::cerr << names[i] << std::endl;
    std::ifstream file(names[i], std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fuzzer's target without a fuzzer, linked with the core that was built for this Python."""
    cores = sorted((ROOT / "build").glob("cp*/libgapless_core.a"), key=lambda path: path.stat().st_mtime)
    if not cores or shutil.which("g++") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no built core and g++ to link the replay fuzzer with")
        pytest.skip("no built core and g++ here to link the replay fuzzer with")
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "main.cpp").write_text(MAIN)
    command = ["g++", "-std=c++20", "-O1", "-I", ROOT / "core", ROOT / "core/fuzz/replay_fuzz.cpp", "main.cpp"]
    subprocess.run([*command, cores[-1], "-o", "replay"], cwd=folder, check=True)
    return folder / "replay"


def test_inputs_of_the_replay_fuzzer_break_nothing(program: Path) -> None:
    assert len(INPUTS) >= 50

    done = subprocess.run([program, *INPUTS], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr[-2000:]
