"""The files of a folder: which are taken, how many at most, and which hold the same."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from gapless.errors import InputError
from gapless.sources import folder
from gapless.sources.content import _Regular
from gapless.sources.folder import Twins, files_in

if TYPE_CHECKING:
    from pathlib import Path


def test_files_alone_by_name(tmp_path: Path) -> None:
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "c").mkdir()
    os.mkfifo(tmp_path / "d")

    assert [path.name for path in files_in(str(tmp_path))] == ["a", "b"]


def test_more_files_than_a_job_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "FILES_MAX", 3)
    for name in "abc":
        (tmp_path / name).touch()
    assert len(files_in(str(tmp_path))) == 3

    (tmp_path / "d").touch()
    with pytest.raises(InputError, match="holds more than 3 files"):
        files_in(str(tmp_path))


def test_the_kernels_folders_are_told_by_their_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = os.stat(tmp_path).st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"22 27 {os.major(device)}:{os.minor(device)} / {tmp_path} rw shared:1 - tracefs none rw\n")
    monkeypatch.setattr(folder, "_MOUNTS", mounts)

    with pytest.raises(InputError, match=r"the kernel's own state \(tracefs\)"):
        files_in(str(tmp_path))


def test_twins(tmp_path: Path) -> None:
    whole = bytes(range(256)) * 8192
    contents = {"a": whole, "b": whole[:-1] + b"x", "c": whole[:-1], "d": whole, "e": b"y" + whole[1:]}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    twins = Twins()

    found = {name: twins.twin_of(tmp_path / name) for name in contents}

    assert found == {"a": None, "b": None, "c": None, "d": tmp_path / "a", "e": None}


def test_many_ranks_of_one_size_are_not_read_again_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "_are_equal", None)  # a call fails
    twins = Twins()
    for rank in range(9):
        (tmp_path / f"rank{rank}").write_bytes(bytes([rank]) * 5000)

    assert [twins.twin_of(tmp_path / f"rank{rank}") for rank in range(9)] == [None] * 9


def test_a_file_with_nothing_to_read_yet_is_an_error_that_names_it() -> None:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with _Regular(reader, "/proc/kmsg") as file, pytest.raises(BlockingIOError) as caught:
        file.read(2)
    os.close(writer)

    assert caught.value.filename == "/proc/kmsg"
