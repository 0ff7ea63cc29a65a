"""Logs that were damaged, or written in another encoding, are read where they hold text; data is refused."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import tarfile
from typing import TYPE_CHECKING

import pytest

from tests.integration.run import gapless
from tests.integration.small import snapshot
from tests.unit.sources.log.messages import Truth

if TYPE_CHECKING:
    from pathlib import Path

TEXT = f"step 1\nstep 2\n[rank0]: torch.OutOfMemoryError: {Truth().text('2.6')}\nstep 3\n"
PLAIN = TEXT.encode()
PACKED = random.Random(1).randbytes(100)
DAMAGED = {
    "a few zeros": PLAIN.replace(b"step 2", b"st\0p\0\0"),
    "a hole of zeros in front": bytes(3 << 20) + PLAIN,
    "a hole of zeros inside": PLAIN[:10] + bytes(5000) + PLAIN[10:],
    "a torn character in front": b"\x9f\x98\x80" + PLAIN,
    "noise in front": PACKED + PLAIN,
    "noise behind a beginning": PLAIN + b"step 4\n" * 800 + PACKED * 50,
    "a Chinese code page": "开始训练第一步\n".encode("gbk") + PLAIN,
    "PowerShell": b"\xff\xfe" + TEXT.encode("utf-16-le"),
    "UTF-16, big end first": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "UTF-16 without a mark": TEXT.encode("utf-16-le"),
    "UTF-32": TEXT.encode("utf-32"),
    "a mark of UTF-8": TEXT.encode("utf-8-sig"),
    "PowerShell, packed": gzip.compress(b"\xff\xfe" + TEXT.encode("utf-16-le")),
}


def archive() -> bytes:
    """A tar file with the log."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("run.log"), io.BytesIO())
    return packed.getvalue()


DATA = {
    "noise": (random.Random(2).randbytes(5000), "binary data"),
    "bytes that are no letters": (bytes(range(128, 256)) * 3, "binary data"),
    "zeros": (bytes(5000), "all zeros"),
    "a pickle without its beginning": (pickle.dumps(snapshot(), protocol=4)[20:], "binary data"),
    "an old pickle without its beginning": (pickle.dumps(snapshot(), protocol=2)[20:], "binary data"),
    "little": (b"\x01\xff", "binary data"),
    "an archive": (archive(), "a tar archive"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_text_is_read_through_its_damage(name: str, tmp_path: Path) -> None:
    path, clean = tmp_path / "run.log", tmp_path / "clean.log"
    path.write_bytes(DAMAGED[name])
    clean.write_bytes(PLAIN)

    done, expected = gapless("explain", path), gapless("explain", clean)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:5] == expected.stdout.splitlines()[:5]
    assert "The message (line 3, rank 0)" in expected.stdout


@pytest.mark.parametrize("name", [name for name in DAMAGED if "packed" not in name and "hole" not in name])
def test_on_stdin_too(name: str) -> None:
    done = gapless("explain", "-", stdin=DAMAGED[name])

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == gapless("explain", "-", stdin=PLAIN).stdout.splitlines()[0]


@pytest.mark.parametrize("name", DATA)
def test_data_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    content, said = DATA[name]
    path.write_bytes(content)

    done = gapless("explain", path)

    assert (done.returncode, done.stdout) == (2, "")
    assert f"{path} is {said}" in done.stderr
