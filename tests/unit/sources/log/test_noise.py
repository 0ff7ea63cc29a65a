"""Messages as they stand in logs of real launchers, loggers and terminals."""

from __future__ import annotations

import gzip
import io
import json
import textwrap
from pathlib import Path

import pytest

from gapless.errors import InputError
from gapless.sources.log import LogScan, OomMessage, read_log, scan_log
from tests.unit.sources.log.messages import GIB, MIB, Truth

TRUTH = Truth(device=1, request=546 * MIB, this_process=23 * GIB, private_free=46 * MIB)
TEXT = TRUTH.text("2.6")


def scan(text: str | bytes) -> LogScan:
    """A scan of a whole text."""
    return scan_log(io.BytesIO(text.encode() if isinstance(text, str) else text))


def plain(message: OomMessage) -> dict[str, object]:
    """What a message says, without where it stood."""
    return {name: value for name, value in vars(message).items() if name not in ("text", "line", "origin", "releases")}


EXPECTED = plain(scan(TEXT).messages[0])


@pytest.mark.parametrize(
    ("prefix", "rank"),
    [
        ("[rank3]: torch.OutOfMemoryError: ", 3),
        ("3: torch.OutOfMemoryError: ", 3),
        (" 12: RuntimeError: ", 12),
        ("[default3]:[rank3]: torch.OutOfMemoryError: ", 3),
        ("[default2]:torch.cuda.OutOfMemoryError: ", 2),
        ("[1,5]<stderr>:torch.OutOfMemoryError: ", 5),
        ("(RayWorkerWrapper pid=12345, ip=10.0.0.7) torch.OutOfMemoryError: ", None),
        ("(Worker_TP3 pid=71) ERROR 04-27 10:13:05 [multiproc.py:522] torch.OutOfMemoryError: ", 3),
        ("(VllmWorkerProcess pid=71) ERROR 04-27 10:13:05 multiproc.py:226] torch.OutOfMemoryError: ", None),
        ("2024-05-01 12:00:01,123 - train - ERROR - rank 4: ", 4),
        ("2024-05-01T12:00:01.123456Z worker-0 | [rank0]: torch.OutOfMemoryError: ", 0),
        ("\x1b[31m[rank7]:\x1b[0m \x1b[1;35mtorch.OutOfMemoryError\x1b[0m: ", 7),
        ("E   torch.OutOfMemoryError: ", None),
        ("step 71:  12%|#2        | 12/100 [00:01<00:08, 9.1it/s]\rtorch.OutOfMemoryError: ", None),
        ("terminate called after throwing an instance of 'c10::OutOfMemoryError'\n  what():  ", None),
        ("", None),
    ],
)
def test_prefixes_of_launchers(prefix: str, rank: int | None) -> None:
    (message,) = scan(f"hello\n{prefix}{TEXT}\nbye\n").messages

    assert plain(message) == EXPECTED
    assert message.origin.rank == rank
    assert message.line == 2 + prefix.count("\n")


def test_origin_names_process_time_and_exception() -> None:
    prefix = "2024-05-01 12:00:01,123 (RayWorker pid=77) torch.cuda.OutOfMemoryError: "

    origin = scan(prefix + TEXT).messages[0].origin

    assert (origin.process, origin.pid) == ("RayWorker pid=77", 77)
    assert (origin.time, origin.exception) == ("2024-05-01 12:00:01,123", "torch.cuda.OutOfMemoryError")


@pytest.mark.parametrize("width", range(20, 130, 7))
def test_wrapped_at_any_width(width: int) -> None:
    words = "\n".join(textwrap.wrap(TEXT, width))
    hard = "\n".join(TEXT[at : at + width] for at in range(0, len(TEXT), width))

    for wrapped in (words, hard, hard.replace("\n", "\r\n"), words.replace("\n", "\n    ")):
        assert [plain(message) for message in scan(wrapped).messages] == [EXPECTED]


@pytest.mark.parametrize(
    "prefix", ["[rank1]: ", "(W pid=7) ", "1: ", "worker-1  | ", "> ", "12:00:01 ERROR ", "\x1b[31m"]
)
def test_wrapped_with_a_prefix_on_every_line(prefix: str) -> None:
    text = "\n".join(prefix + line for line in textwrap.wrap(TEXT, 70))

    assert [plain(message) for message in scan(text).messages] == [EXPECTED]


def test_boxed() -> None:
    text = "\n".join(f"\u2502 {line:<70} \u2502" for line in textwrap.wrap(TEXT, 70))

    assert [plain(message) for message in scan(text).messages] == [EXPECTED]


@pytest.mark.parametrize("release", ["1.13", "2.3", "2.6", "2.14"])
@pytest.mark.parametrize("times", [1, 2])
def test_escaped_for_json(release: str, times: int) -> None:
    text = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n\x1b[31mRuntimeError\x1b[0m: '
    text += f"{TRUTH.text(release)}\n"
    record = text
    for _ in range(times):
        record = json.dumps({"level": "error", "rank": 3, "message": record})

    (message,) = scan(f"{{}}\n{record}\n").messages

    assert plain(message) == plain(scan(TRUTH.text(release)).messages[0])
    assert (message.line, message.is_quoted) == (2, False)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_files_of_any_encoding(tmp_path: Path, encoding: str) -> None:
    text = f"d\u00e9but \u2500\n[rank1]: {TEXT}\n"
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    path = tmp_path / "run.log"
    path.write_bytes(mark + text.encode(encoding))

    (message,) = read_log(path).messages

    assert plain(message) == EXPECTED
    assert (message.line, message.origin.rank) == (2, 1)


def test_gzip_whole_and_cut(tmp_path: Path) -> None:
    packed = gzip.compress(f"{TEXT}\n".encode() + bytes(range(256)) * 400)
    whole, cut = tmp_path / "whole.log.gz", tmp_path / "cut.log.gz"
    whole.write_bytes(packed)
    cut.write_bytes(packed[:-30])

    assert plain(read_log(whole).messages[0]) == EXPECTED
    assert read_log(whole).is_complete
    assert plain(read_log(cut).messages[0]) == EXPECTED
    assert not read_log(cut).is_complete


def test_broken_gzip_and_missing_files_are_input_errors(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gz"
    broken.write_bytes(b"\x1f\x8b\x08\x00" + b"\xff" * 100)

    with pytest.raises(InputError, match=r"broken\.gz cannot be read"):
        read_log(broken)
    with pytest.raises(InputError, match=r"none\.log cannot be opened: No such file"):
        read_log(tmp_path / "none.log")


def test_a_message_across_chunks_of_the_stream() -> None:
    class OneByte(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(min(7, size or 7))

    found = scan_log(OneByte(f"{'noise ' * 3000}\n{TEXT}\n{'noise ' * 3000}\n".encode()))

    assert [plain(message) for message in found.messages] == [EXPECTED]
    assert (found.messages[0].line, found.lines) == (2, 3)


def test_settings_strings_in_use_are_collected_and_the_hint_is_not_one() -> None:
    text = (
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"
        'os.environ["PYTORCH_ALLOC_CONF"] = "max_split_size_mb:128,garbage_collection_threshold:0.8"\n'
        f"{TEXT}\n"
    )

    assert scan(text).settings == ("expandable_segments:True", "max_split_size_mb:128,garbage_collection_threshold:0.8")
    assert scan(TEXT).settings == ()
