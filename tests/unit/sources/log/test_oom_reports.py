"""Real messages: the numbers of each were read by eye from its text and written here."""

from __future__ import annotations

import io

import pytest

from gapless.sources.log import OomMessage, scan_log
from gapless.sources.log.amount import Amount
from tests.unit.sources.log.reports import reports

# id: wording, device, then as printed: request, capacity, free of the card, allocated, reserved (parenthesis) or
# unallocated (sentences; "cached" up to 1.2), and the hint.
SPLIT, EXPAND = "max_split_size_mb", "expandable_segments"
MESSAGES: dict[str, tuple[str, int | None, str, str, str, str, str, str | None]] = {
    "r007": ("cached", 0, "12.50 MiB", "10.92 GiB", "9.28 GiB", "8.57 MiB", "4.68 MiB", None),
    "r008": ("cached", 0, "1024.00 KiB", "11.17 GiB", "576.00 KiB", "10.90 GiB", "30.96 MiB", None),
    "r009": ("cached", 0, "32.00 MiB", "7.79 GiB", "21.00 MiB", "6.64 GiB", "150.86 MiB", None),
    "r013": ("cached", 0, "74.00 MiB", "1.96 GiB", "71.50 MiB", "1.46 GiB", "38.53 MiB", None),
    "r014": ("parenthesis", 0, "152.00 MiB", "31.72 GiB", "6.12 MiB", "24.89 GiB", "30.70 GiB", None),
    "r015": ("parenthesis", 0, "20.00 MiB", "10.76 GiB", "21.12 MiB", "9.76 GiB", "9.88 GiB", None),
    "r018": ("parenthesis", 0, "156.00 MiB", "10.91 GiB", "100.81 MiB", "5.68 GiB", "5.75 GiB", None),
    "r021": ("parenthesis", 0, "1006.00 MiB", "10.91 GiB", "569.81 MiB", "9.18 GiB", "9.49 GiB", None),
    "r023": ("parenthesis", 0, "92.00 MiB", "1.96 GiB", "16.38 MiB", "1.46 GiB", "1.51 GiB", None),
    "r025": ("parenthesis", 0, "64.00 MiB", "4.00 GiB", "0 bytes", "3.35 GiB", "3.41 GiB", SPLIT),
    "r027": ("parenthesis", 0, "324.00 MiB", "8.00 GiB", "0 bytes", "7.82 GiB", "7.17 GiB", SPLIT),
    "r028": ("parenthesis", 0, "20.00 MiB", "2.00 GiB", "0 bytes", "1.71 GiB", "1.75 GiB", SPLIT),
    "r031": ("parenthesis", 0, "2.25 GiB", "14.76 GiB", "661.75 MiB", "10.77 GiB", "12.82 GiB", SPLIT),
    "r032": ("parenthesis", 0, "5.80 GiB", "14.61 GiB", "4.35 GiB", "6.54 GiB", "9.29 GiB", SPLIT),
    "r033": ("parenthesis", 0, "1.39 GiB", "6.00 GiB", "478.00 MiB", "4.04 GiB", "4.15 GiB", SPLIT),
    "r035": ("parenthesis", 0, "1.69 GiB", "14.56 GiB", "1.31 GiB", "649.97 MiB", "1.01 GiB", SPLIT),
    "r037": ("parenthesis", 0, "512.00 MiB", "31.75 GiB", "62.19 MiB", "30.25 GiB", "30.67 GiB", SPLIT),
    "r038": ("parenthesis", 0, "20.00 MiB", "8.00 GiB", "0 bytes", "7.06 GiB", "7.29 GiB", SPLIT),
    "r039": ("sentences", 0, "1.70 GiB", "6.00 GiB", "0 bytes", "2.93 GiB", "2.30 GiB", SPLIT),
    "r040": ("sentences", 0, "32.00 MiB", "4.00 GiB", "41.56 MiB", "2.58 GiB", "1.90 MiB", SPLIT),
    "r044": ("sentences", 0, "22.00 MiB", "23.65 GiB", "11.06 MiB", "22.90 GiB", "194.87 MiB", EXPAND),
    "r045": ("sentences", 0, "4.22 GiB", "15.69 GiB", "3.71 GiB", "10.14 GiB", "771.43 MiB", EXPAND),
    "r047": ("sentences", 0, "1002.00 MiB", "8.00 GiB", "0 bytes", "13.98 GiB", "129.48 MiB", EXPAND),
    "r048": ("sentences", 0, "20.00 MiB", "4.00 GiB", "2.35 GiB", "825.15 MiB", "24.85 MiB", EXPAND),
    "r050": ("sentences", 0, "158.00 MiB", "23.69 GiB", "115.69 MiB", "22.14 GiB", "910.35 MiB", EXPAND),
    "r052": ("sentences", 0, "546.00 MiB", "15.77 GiB", "514.19 MiB", "13.73 GiB", "736.86 MiB", EXPAND),
    "r077": ("sentences", 0, "432.00 MiB", "15.92 GiB", "7.12 GiB", "8.08 GiB", "321.96 MiB", EXPAND),
    "r079": ("sentences", 0, "6.64 GiB", "19.92 GiB", "6.22 GiB", "5.34 GiB", "7.10 GiB", EXPAND),
    "r080": ("sentences", 0, "3.31 GiB", "128.00 GiB", "780.24 MiB", "57.70 GiB", "75.82 MiB", EXPAND),
    "r082": ("sentences", 0, "124.00 MiB", "19.94 GiB", "554.47 MiB", "15.87 GiB", "165.29 MiB", EXPAND),
    "r083": ("sentences", 0, "12.95 GiB", "127.00 GiB", "18.55 GiB", "99.37 GiB", "121.80 MiB", EXPAND),
    "r085": ("sentences", 0, "4.50 GiB", "15.98 GiB", "1.40 GiB", "1.26 GiB", "152.50 MiB", EXPAND),
}
HIP = {"r077", "r079", "r080", "r082", "r083", "r085"}
# What else some of them print.
THIS_PROCESS = {"r040": "3.44 GiB", "r044": "23.60 GiB", "r045": "11.14 GiB"}
PROCESSES = {"r050": ((21422, "23.57 GiB"),), "r052": ((562167, "15.25 GiB"),)}
PRIVATE_POOLS = {"r052": "46.00 MiB"}
RELEASES = {
    "r007": "1.0 1.1 1.2",
    "r014": "1.3 1.4 1.5 1.6 1.7 1.8 1.9 1.10 1.11 1.12 1.13 2.0",
    "r023": "1.3 1.4 1.5 1.6 1.7 1.8 1.9 1.10 1.11 1.12 1.13 2.0",  # cut before a hint could come
    "r025": "1.10 1.11 1.12 1.13 2.0",
    "r027": "1.13 2.0",  # torch.cuda.OutOfMemoryError
    "r039": "2.1",
    "r044": "2.2 2.4",
    "r045": "2.4 2.5 2.6 2.7 2.8 2.9",  # torch.OutOfMemoryError
    "r052": "2.4 2.5 2.6 2.7 2.8 2.9",
    "r083": "2.10",  # PYTORCH_ALLOC_CONF
}


def amount(printed: str) -> Amount:
    """An amount as its text prints it."""
    return Amount.printed(*printed.split())


def message_of(report: str) -> OomMessage:
    """The one message in a report."""
    scan = scan_log(io.BytesIO(reports()[report]["verbatim_message"].encode()))
    assert len(scan.messages) == 1
    return scan.messages[0]


@pytest.mark.parametrize("report", MESSAGES)
def test_every_number_of_a_real_message_is_read(report: str) -> None:
    wording, device, request, capacity, free, allocated, last, hint = MESSAGES[report]

    message = message_of(report)

    assert message.wording == ("parenthesis" if wording == "cached" else wording)
    assert (message.device, message.backend) == (device, "HIP" if report in HIP else "CUDA")
    assert (message.request, message.capacity) == (amount(request), amount(capacity))
    assert (message.free, message.allocated) == (amount(free), amount(allocated))
    assert (message.reserved if wording == "parenthesis" else message.unallocated) == amount(last)
    assert message.hint == hint
    assert message.this_process == (amount(THIS_PROCESS[report]) if report in THIS_PROCESS else None)
    assert message.processes == tuple((pid, amount(size)) for pid, size in PROCESSES.get(report, ()))
    assert message.private_pools == (amount(PRIVATE_POOLS[report]) if report in PRIVATE_POOLS else None)
    assert message.allowed is None
    assert (message.is_cut, message.is_quoted) == (report == "r023", False)


@pytest.mark.parametrize("report", RELEASES)
def test_the_wording_tells_the_releases_that_it_fits(report: str) -> None:
    assert " ".join(message_of(report).releases) == RELEASES[report]


def test_a_message_that_its_writer_cut_keeps_what_is_left() -> None:
    cut, split = message_of("r053"), message_of("r054")

    assert (cut.device, cut.request, cut.capacity) == (6, amount("2.00 MiB"), amount("44.53 GiB"))
    assert (cut.free, cut.allocated, cut.unallocated, cut.is_cut) == (amount("448.00 KiB"), None, None, True)
    assert (split.device, split.request, split.capacity) == (0, amount("136.00 MiB"), amount("22.36 GiB"))
    assert (split.free, split.allocated, split.is_cut) == (amount("120.88 MiB"), None, True)


ASYNC = {
    "r073": ("8.28 GiB", "8.01 GiB", "15.70 GiB", "48.38 MiB"),
    "r075": ("15.16 GiB", "512.00 KiB", "15.99 GiB", "0 bytes"),
}


@pytest.mark.parametrize("report", ASYNC)
def test_cuda_malloc_async_prints_lines(report: str) -> None:
    allocated, request, capacity, free = map(amount, ASYNC[report])

    message = message_of(report)

    assert (message.wording, message.device) == ("async", 0)
    assert (message.allocated, message.request) == (allocated, request)
    assert (message.capacity, message.free) == (capacity, free)
    assert message.allowed is None  # 17179869184 GiB is its word for no limit


FOREIGN = {
    "r001": "THC", "r003": "THC", "r004": "THC", "r006": "THC",
    "r057": "vLLM", "r059": "vLLM", "r060": "vLLM", "r062": "vLLM", "r064": "vLLM", "r065": "vLLM", "r066": "vLLM",
    "r068": "vLLM", "r076": "numbers left out",
    "r086": "MPS", "r088": "MPS", "r090": "MPS", "r091": "MPS", "r092": "MPS", "r094": "MPS",
    "r095": "XPU", "r097": "XPU", "r098": "XPU", "r099": "NPU", "r101": "NPU", "r102": "NPU",
    "r103": "BFC", "r104": "BFC", "r106": "BFC", "r107": "BFC", "r109": "XLA", "r111": "XLA", "r112": "XLA",
    "r114": "RMM", "r116": "RMM", "r117": "RMM", "r118": "llama.cpp", "r120": "llama.cpp", "r121": "DeepSpeed",
}  # fmt: skip
LIBRARIES = {"r069": "sleep-mode", "r070": "sleep-mode", "r072": "CUDA runtime"}
SILENT = {"r017", "r123", "r125", "r127", "r128"}  # prose and tables: nothing failed in their text


@pytest.mark.parametrize("report", FOREIGN)
def test_messages_of_others_are_named_and_not_read(report: str) -> None:
    scan = scan_log(io.BytesIO(reports()[report]["verbatim_message"].encode()))

    assert scan.messages == ()
    assert FOREIGN[report] in scan.foreign[0].family


@pytest.mark.parametrize("report", LIBRARIES)
def test_failures_beside_the_cache_are_of_a_library(report: str) -> None:
    scan = scan_log(io.BytesIO(reports()[report]["verbatim_message"].encode()))

    assert scan.messages == ()
    assert LIBRARIES[report] in scan.libraries[0].library


def test_the_tables_here_cover_every_report() -> None:
    known = {*MESSAGES, "r053", "r054", *ASYNC, *FOREIGN, *LIBRARIES, *SILENT}

    assert known == set(reports())
    for report in sorted(SILENT):
        scan = scan_log(io.BytesIO(reports()[report]["verbatim_message"].encode()))
        assert (scan.messages, scan.libraries, scan.foreign) == ((), (), ())
