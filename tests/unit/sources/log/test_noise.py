"""Messages as they stand in logs of real launchers, loggers and terminals."""

from __future__ import annotations

import gzip
import io
import json
import textwrap
from pathlib import Path

import pytest

from gapless.errors import InputError
from gapless.sources.log import LogScan, OomMessage, is_log, read_log, scan_log
from tests.recordings import content_of, each_shared_snapshot
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
        ("local rank 3 failed: ", None),
        ("local rank 3, global rank 11: ", 11),
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


VLLM = "(RayWorkerWrapper pid=1054, ip=10.96.62.52) ERROR 01-02 02:39:17 worker_base.py:467] "
SGLANG = "(SGLangEngine pid=516714) [2026-01-27 06:50:01 TP7] "


@pytest.mark.parametrize(("prefix", "rank", "pid"), [(VLLM, None, 1054), (SGLANG, 7, 516714)])
def test_prefixes_of_servers_on_every_line(prefix: str, rank: int | None, pid: int) -> None:
    text = "\n".join(prefix + line for line in textwrap.wrap(TEXT, 100))

    (message,) = scan(text).messages

    assert plain(message) == EXPECTED
    assert (message.origin.rank, message.origin.pid) == (rank, pid)


def test_windows_does_not_tell_what_processes_hold() -> None:
    unknown = 1 << 64
    truth = Truth(this_process=unknown, processes=((9132, unknown), (7, 64 * MIB)), allowed=2 * GIB)

    (message,) = scan(truth.text("2.6")).messages

    assert (message.this_process, [pid for pid, _ in message.processes]) == (None, [7])
    assert message.unallocated is not None


def test_what_a_writer_left_out_is_passed_over() -> None:
    text = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacity of"
        " 184.31 GiB of which 21.50 MiB is free. ... 181.80 GiB is allocated by PyTorch, with 71.20 GiB allocated in"
        " private pools (e.g., CUDA Graphs), and 13.63 MiB is reserved by PyTorch but unallocated. ..."
    )

    (message,) = scan(text).messages

    assert message.allocated is not None
    assert message.private_pools is not None
    assert (message.allocated.value, message.private_pools.value) == (195206263603, 76450417869)
    assert not message.is_cut


@each_shared_snapshot(lambda path: path.parent.name == "virtual")
def test_recordings_are_no_logs_and_their_texts_are(path: Path) -> None:
    name = path.name.partition(".")[0]

    assert not is_log(content_of(path)[:4096])
    assert is_log((path.parent / f"{name}.txt").read_bytes()[:4096])


@pytest.mark.parametrize("head", [b"", b"\x80\x02}", b"<html><body>", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1"])
def test_other_files_are_no_logs(head: bytes) -> None:
    assert not is_log(head)


def test_logs_with_raw_bytes_or_utf_16_are_logs() -> None:
    assert is_log(Truth().text("2.3").encode())
    assert is_log(TEXT.encode("utf-16"))
    assert is_log("d\u00e9but\n".encode())


def test_a_gzip_yields_no_more_than_a_log_would(tmp_path: Path) -> None:
    hostile, long = tmp_path / "hostile.gz", tmp_path / "long.gz"
    hostile.write_bytes(gzip.compress(b"step\n" * (1 << 18)) * 260)  # 325 MiB
    long.write_bytes(gzip.compress(b"step\n" * (1 << 20)))

    with pytest.raises(InputError, match="its gzip unpacks to more than 256 MiB; unpack it first, if it is a log"):
        read_log(hostile)
    assert read_log(long).bytes == 5 << 20
