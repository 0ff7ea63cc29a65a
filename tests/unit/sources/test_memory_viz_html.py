"""The page that PyTorch draws holds the recording; what is no such page says what it is."""

from __future__ import annotations

import base64
import pickle
from pathlib import Path

import pytest

from gapless.errors import FormatError
from gapless.sources import open_snapshot
from tests.made_recordings import FORMS
from tests.recordings import ROOT, load_plainly
from tests.unit.sources.oracle import actual, expected

FIXTURES = ROOT / "tests" / "fixtures" / "writers"


def page(*pickles: bytes) -> str:
    """A page as PyTorch writes it."""
    files = ", ".join(f'{{"name": "snapshot.pickle", "base64": "{base64.b64encode(p).decode()}"}}' for p in pickles)
    return f"\n<!DOCTYPE html>\n<html>\n<script>\nconst local_files = [{files}]\n</script>\n</html>\n"


@pytest.mark.parametrize("name", ["trace_plot", "segment_plot"])
def test_pages_of_pytorch_hold_what_was_recorded(name: str) -> None:
    recorded = load_plainly((FIXTURES / "torch2.14_python_writer.pickle").read_bytes())

    assert actual(open_snapshot(FIXTURES / f"torch2.14_{name}.html")) == expected(recorded)


@pytest.mark.parametrize("writer", ["python_writer", "cpp_writer", "segment_list"])
def test_every_writer_of_pytorch_is_read(writer: str) -> None:
    path = FIXTURES / f"torch2.14_{writer}.pickle"

    assert actual(open_snapshot(path)) == expected(load_plainly(path.read_bytes()))


def test_a_page_holds_zeros_behind_the_pickle(tmp_path: Path) -> None:
    recording = FORMS["2.14"]()
    path = tmp_path / "page.html"
    path.write_text(page(pickle.dumps(recording) + b"\0\0"))

    assert actual(open_snapshot(path)) == expected(recording)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_a_page_that_was_written_anew_in_another_encoding(encoding: str, tmp_path: Path) -> None:
    recording = FORMS["2.14"]()
    path = tmp_path / "page.html"
    path.write_text(page(pickle.dumps(recording)), encoding=encoding)

    assert actual(open_snapshot(path)) == expected(recording)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<!DOCTYPE html><html></html>", "the page holds no memory snapshot"),
        ("<html><script>let alloc_data = {}</script>", "PyTorch 2.0 and holds the drawing alone"),
        (page(b"a", b"b", b"c"), "the page holds 3 memory snapshots; one can be read at a time"),
        (page(b"abc").replace("YWJj", "YWJ"), "the snapshot in the page is damaged"),
        (page(b""), "the file ends before the pickle does"),
        (page(b"\x80\x04cos\nsystem\n."), "asks to run code (GLOBAL os.system)"),
    ],
)
def test_what_a_page_may_be_instead(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(text)

    with pytest.raises(FormatError) as found:
        open_snapshot(path)

    assert said in found.value.message
    assert found.value.hint
