"""Names of files, and that nobody sees half of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gapless.recorder.files import CAPSULE, STEPS, Files, rank_in, stem_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("variables", "rank"),
    [({}, None), ({"RANK": "7", "SLURM_PROCID": "2"}, 7), ({"SLURM_PROCID": "2"}, 2), ({"RANK": "none"}, None)],
)
def test_the_launcher_tells_the_rank(variables: dict[str, str], rank: int | None) -> None:
    assert rank_in(variables) == rank


def test_a_process_without_a_rank_is_named_by_its_number() -> None:
    assert stem_of({}, 12) == "process12"
    assert stem_of({"RANK": "0", "TORCHELASTIC_RESTART_COUNT": "0"}, 12) == "rank0"
    assert stem_of({"RANK": "0", "TORCHELASTIC_RESTART_COUNT": "2"}, 12) == "rank0-restart2"


def test_no_name_is_taken_twice(tmp_path: Path) -> None:
    stems = [Files(str(tmp_path / "new" / "folder"), "rank3").stem for _ in range(3)]

    assert stems == ["rank3", "rank3-run2", "rank3-run3"]
    assert sorted(path.name for path in (tmp_path / "new/folder").iterdir()) == sorted(stem + STEPS for stem in stems)


def test_a_file_has_its_name_when_it_is_whole(tmp_path: Path) -> None:
    files = Files(str(tmp_path), "rank0")
    files.path(CAPSULE).write_text("old")

    with files.written(CAPSULE) as file:
        file.write(b"new")
        file.flush()
        assert files.path(CAPSULE).read_text() == "old"

    assert files.path(CAPSULE).read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 2


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    files = Files(str(tmp_path), "rank0")
    files.path(CAPSULE).write_text("old")

    with pytest.raises(OSError, match="full"), files.written(CAPSULE):
        raise OSError("full")

    assert files.path(CAPSULE).read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
