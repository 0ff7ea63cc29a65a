"""Recording without a line of code: what Python does when it starts with GAPLESS_RECORD, and where there is no GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# PyTorch on a machine without a GPU, or a build without CUDA: what waits for CUDA waits for ever.
TORCH_WITHOUT_GPU = """
class cuda:
    OutOfMemoryError = RuntimeError
    waiting = []
    _lazy_call = waiting.append
"""


def python(code: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("GAPLESS_RECORD")}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=folder, env={**env, "PYTHONPATH": "", **variables}
    )


@pytest.fixture
def with_torch(tmp_path: Path) -> Path:
    (tmp_path / "torch.py").write_text(TORCH_WITHOUT_GPU)
    return tmp_path


@pytest.mark.parametrize(
    ("variables", "loaded"), [({}, False), ({"GAPLESS_RECORD": ""}, False), ({"GAPLESS_RECORD": "out"}, True)]
)
def test_python_loads_the_recorder_only_where_it_is_asked_for(
    variables: dict[str, str], loaded: bool, tmp_path: Path
) -> None:
    done = python("import sys; print('gapless' in sys.modules, 'dataclasses' in sys.modules)", tmp_path, **variables)

    assert (done.stdout, done.stderr) == (f"{loaded} False\n", "")


def test_without_pytorch_nothing_happens(tmp_path: Path) -> None:
    done = python("try:\n  import torch\nexcept ImportError as e: print(e)", tmp_path, GAPLESS_RECORD="out")

    assert (done.stdout, done.stderr) == ("No module named 'torch'\n", "")
    assert list(tmp_path.iterdir()) == []


def test_without_a_gpu_nothing_happens(with_torch: Path) -> None:
    done = python("import torch; print(len(torch.cuda.waiting))", with_torch, GAPLESS_RECORD="out")

    assert (done.stdout, done.stderr) == ("1\n", "")
    assert not (with_torch / "out").exists()


@pytest.mark.parametrize("code", ["import torch, gapless", "import gapless"])
def test_a_part_of_a_program_without_a_gpu_is_as_without_us(code: str, with_torch: Path) -> None:
    done = python(f"{code}\nwith gapless.record('out'):\n  import torch\n  print('ran')\nprint('goes on')", with_torch)

    assert (done.stdout, done.stderr) == ("ran\ngoes on\n", "")
    assert not (with_torch / "out").exists()


def test_an_error_of_the_program_passes_through(with_torch: Path) -> None:
    done = python("import gapless\nwith gapless.record('out'):\n  raise KeyError('mine')", with_torch)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "KeyError: 'mine'"


def test_options_that_mean_nothing_are_said_and_the_program_goes_on(with_torch: Path) -> None:
    options = {"GAPLESS_RECORD": "out", "GAPLESS_RECORD_OPTIONS": "threshold:9"}
    done = python("import torch; print('goes on')", with_torch, **options)

    assert done.stdout == "goes on\n"
    assert done.stderr == "gapless: nothing is recorded: threshold is 9.0; it is a part of a whole, 0 to 1\n"


def test_a_pytorch_that_is_another_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("class cuda: pass\n")
    done = python("import torch; print('goes on')", tmp_path, GAPLESS_RECORD="out")

    assert done.stdout == "goes on\n"
    assert done.stderr.splitlines() == [
        "gapless: what happens cannot be recorded: AttributeError: type object 'cuda' has no attribute '_lazy_call'; "
        "the program goes on"
    ]


def test_the_folder_is_that_of_the_start(with_torch: Path) -> None:
    code = (
        "import os; os.mkdir('other'); os.chdir('other'); import sys; sys.path.insert(0, '..'); import torch\n"
        "from gapless.recorder.recorder import Recorder; print(Recorder.current._options.folder)"
    )
    done = python(code, with_torch, GAPLESS_RECORD="out")

    assert done.stdout.strip() == str(with_torch / "out")
