"""The list of files that the repository's tests work on."""

from __future__ import annotations

from pathlib import Path

from tests.repo.tree import ROOT, files_not_ignored, tracked_files


def test_list_has_sources_and_no_products() -> None:
    files = tracked_files()

    assert {Path("README.md"), Path("tests/repo/test_tree.py"), Path("core/base/units.h")} <= set(files)
    assert [p for p in files if p.parts[0] in {".venv", "build", ".git"} or "__pycache__" in p.parts] == []


def test_without_git_the_list_leaves_out_what_gitignore_names(tmp_path: Path) -> None:
    for name in ("a.py", "build/a.o", "src/build/b.py", "src/__pycache__/a.pyc", "src/x.egg-info/a", ".git/config"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    found = files_not_ignored(tmp_path, ["/build/", "__pycache__/", "*.egg-info/"])

    assert sorted(found) == [Path("a.py"), Path("src/build/b.py")]


def test_both_ways_agree_on_this_tree() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()

    assert sorted(files_not_ignored(ROOT, ignored)) == tracked_files()
