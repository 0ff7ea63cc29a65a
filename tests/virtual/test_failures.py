"""A run that does not fit fails as on a real card, and is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.virtual.runs import run, tuned

if TYPE_CHECKING:
    from pathlib import Path

OUT_OF_MEMORY = 71


def test_a_model_too_large_ends_with_pytorchs_own_error(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, "too_large.py", card="4GiB")

    assert done.status == OUT_OF_MEMORY
    assert done.report["ran_out_of_memory"] is True
    assert "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1024.00 MiB. GPU 0 has a" in done.printed
    assert "never printed" not in done.printed
    assert done.code == "OOM101"


def test_our_own_lines_are_in_no_traceback_and_no_stack(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, "too_large.py", card="4GiB")
    recorded = (tmp_path / "run.pickle").read_bytes()

    assert 'too_large.py", line 8' in done.printed
    assert "gapless/virtual" not in done.printed
    assert b"too_large.py" in recorded
    assert b"gapless/virtual" not in recorded


def test_a_larger_context_leaves_less(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, "pinned.py", card="1GiB", options=("--context", "640MiB"))

    assert done.status == OUT_OF_MEMORY
    assert "GPU 0 has a total capacity of 1024.00 MiB of which" in done.printed
    assert done.report["card"]["capacity_bytes"] == 384 << 20


def test_memory_in_pieces_is_told_from_memory_in_use(python: Path, tmp_path: Path) -> None:
    done = run(python, tmp_path, "pinned.py", card="512MiB")

    assert done.status == OUT_OF_MEMORY
    assert done.code == "FRAG201"


def test_pytorch_itself_does_what_tune_says_of_each_setting(python: Path, tmp_path: Path) -> None:
    run(python, tmp_path, "pinned.py", card="512MiB")
    said = [fix for fix in tuned(python, tmp_path / "run.pickle", "512MiB") if fix["kind"] == "setting"]
    helps = [fix for fix in said if fix["outcome"] != "fails"][:3]
    fails = [fix for fix in said if fix["outcome"] == "fails"][:2]

    assert len(helps) == 3
    assert len(fails) == 2
    for fix in helps + fails:
        again = run(python, tmp_path, "pinned.py", card="512MiB", options=("--conf", fix["conf"]))
        assert again.status == (OUT_OF_MEMORY if fix in fails else 0), fix["conf"]
