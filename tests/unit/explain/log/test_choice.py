"""Which failure decides when a log holds several, and what the explanation shows of the others."""

from __future__ import annotations

import io
import json

import pytest

from gapless.explain.log import LogExplanation, explain_log
from gapless.explain.log.advice import RECORDING
from gapless.explain.log.codes import NAMES
from gapless.explain.rules import all_rules
from gapless.sources.log import scan_log
from tests.unit.sources.log.messages import GIB, MIB, Truth

FULL = Truth(request=4 * GIB, free=100 * MIB, in_use=23 * GIB, reserved=23 * GIB).text("2.6")
PIECES = Truth(request=2 * GIB, free=100 * MIB, in_use=10 * GIB, reserved=23 * GIB).text("2.6")
NCCL = "NCCL WARN Cuda failure 2 'out of memory'\n"
NCCL_SIZE = "NCCL WARN Failed to CUDA calloc async {} bytes\n"


def explain(text: str) -> LogExplanation:
    """The explanation of a log."""
    return explain_log(scan_log(io.BytesIO(text.encode())), path="run.log")


def table(allocated: int, reserved: int, *, ooms: int = 0) -> str:
    """A table of memory_summary(), sizes in MiB."""
    return (
        "|                  PyTorch CUDA memory summary, device ID 0                 |\n"
        f"|            CUDA OOMs: {ooms}            |        cudaMalloc retries: 1         |\n"
        f"| Allocated memory      |  {allocated} MiB |  {allocated} MiB |  19800 MiB |      0 B   |\n"
        f"| GPU reserved memory   |  {reserved} MiB |  {reserved} MiB |  19800 MiB |      0 B   |\n"
    )


def test_the_first_line_decides() -> None:
    assert explain(f"[rank1]: {PIECES}\n[rank0]: {FULL}\n").verdict.code == "FRAG201"
    assert explain(f"[rank0]: {FULL}\n[rank1]: {PIECES}\n").verdict.code == "OOM101"


def test_the_first_time_decides_when_every_failure_has_one() -> None:
    late, early = "2024-05-01 12:00:05,100 rank 0: ", "2024-05-01 12:00:04,900 rank 1: "

    assert explain(f"{late}{FULL}\n{early}{PIECES}\n").verdict.code == "FRAG201"
    assert explain(f"{late}{FULL}\nrank 1: {PIECES}\n").verdict.code == "OOM101"


def test_a_failure_that_was_cut_is_read_where_it_is_whole() -> None:
    found = explain(f"[rank3]: failed: {PIECES[:60]}\n[rank3]: more\n[rank3]: {PIECES}\n")

    assert found.verdict.code == "FRAG201"
    assert found.numbers is not None
    assert found.numbers.message.line == 3


def test_all_messages_stand_in_a_table_by_rank() -> None:
    text = f"[rank2]: {PIECES}\n[rank0]: {FULL}\n[rank0]: {FULL}\n"

    found = explain(text)

    assert [(row.message.origin.rank, row.code, row.message.repeats) for row in found.rows] == [
        (2, "FRAG201", 1),
        (0, "OOM101", 2),
    ]
    lines = found.lines()
    heading = next(index for index, line in enumerate(lines) if line.split()[:2] == ["rank", "device"])
    assert lines[heading + 1].split() == (
        ["2", "0", "1", "2.00", "GiB", "100.00", "MiB", "10.00", "GiB", "13.00", "GiB", "-", "FRAG201", "1"]
    )
    assert lines[heading + 2].split()[-2:] == ["OOM101", "2"]


def test_quoted_messages_do_not_decide() -> None:
    assert explain(f"# {FULL}\n{PIECES}\n").verdict.code == "FRAG201"
    quoted = explain(f"hello\n# {FULL}\n").verdict
    assert (quoted.code, quoted.why) == (
        "OK000",
        "Line 2 only quotes one, as source code, comments and advice do.",
    )


def test_an_empty_log_is_answered() -> None:
    verdict = explain("").verdict

    assert (verdict.code, verdict.confidence) == ("OK000", "unsure")
    assert verdict.message == "No out-of-memory message stands in this log of 0 lines."


@pytest.mark.parametrize(
    ("text", "code", "confidence"),
    [
        (table(10_000, 20_000) + NCCL, "OUT502", "likely"),
        (NCCL + table(10_000, 20_000), "OUT502", "likely"),
        (table(19_900, 20_000) + NCCL, "REC790", "unsure"),
        (table(19_900, 20_000) + NCCL_SIZE.format(4 * MIB), "OUT502", "likely"),
        (table(19_998, 20_000) + NCCL_SIZE.format(4 * MIB), "REC790", "unsure"),
        (table(19_900, 20_000) + NCCL + NCCL_SIZE.format(4 * MIB), "OUT502", "likely"),
        (NCCL, "REC790", "unsure"),
        (table(10_000, 20_000) + "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling\n", "OUT502", "likely"),
        (table(10_000, 20_000) + "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when\n", "OUT502", "unsure"),
        ("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling\n", "REC790", "unsure"),
        (NCCL + PIECES, "OUT502", "likely"),
        (f"[rank1]: {PIECES}\n[rank0]: {NCCL}", "FRAG201", "likely"),
        ("CUBLAS_STATUS_NOT_INITIALIZED\n" + FULL, "OOM101", "certain"),
    ],
)
def test_a_starved_library_is_the_caches_fault_only_where_the_cache_was_large(
    text: str, code: str, confidence: str
) -> None:
    verdict = explain(text).verdict

    assert (verdict.code, verdict.confidence) == (code, confidence)


def test_the_cure_of_a_starved_library_is_less_cache() -> None:
    verdict = explain(table(10_000, 20_000) + NCCL).verdict

    assert "NCCL could not get memory from the card while PyTorch's cache held 9.77 GiB" in verdict.message
    assert "empty_cache()" in verdict.what_to_do
    assert "set_per_process_memory_fraction" in verdict.what_to_do
    assert "expandable_segments" not in verdict.what_to_do


def test_a_table_that_counts_failures_asks_for_their_message() -> None:
    verdict = explain(table(500, 60_000, ooms=2)).verdict

    assert (verdict.code, verdict.confidence) == ("REC790", "unsure")
    assert "counts 2 out-of-memory errors on device 0" in verdict.message


def test_the_json_follows_the_schema_of_explain() -> None:
    found = explain(f"PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128\n[rank2]: {PIECES}\n")

    value = json.loads(json.dumps(found.to_json()))

    keys = "schema input state replay verdict findings holders pins growth lower_bound_bytes fixes"
    assert list(value) == keys.split()
    assert value["schema"] == "gapless.explain/1"
    assert value["input"] == {
        "path": "run.log",
        "kind": "log",
        "torch": {"candidates": ["2.2", "2.4", "2.5", "2.6", "2.7", "2.8", "2.9"], "matched": None},
        "device": 0,
        "events": None,
        "settings": {"text": "max_split_size_mb:128", "values": {}},
    }
    assert value["state"] == {
        "at": "oom",
        "event": None,
        "limit_bytes": None,
        "limit_bytes_most": None,
        "capacity_bytes": 23 * GIB + 100 * MIB,
        "device_free_bytes": 100 * MIB,
        "requested_bytes": None,
        "rounded_bytes": None,
        "segment_bytes": 2 * GIB,
        "allocated_bytes": 10 * GIB,
        "active_bytes": None,
        "reserved_bytes": 23 * GIB,
        "free_bytes": 13 * GIB,
        "largest_free_block_bytes": None,
        "pending_bytes": None,
        "private_pool_free_bytes": None,
    }
    assert value["verdict"]["code"] == value["findings"][0]["code"] == "FRAG201"
    assert value["findings"][0]["measurements"]["unallocated_bytes"] == 13 * GIB
    assert (value["replay"], value["fixes"], value["lower_bound_bytes"]) == (None, [], None)
    assert explain("nothing").to_json()["state"] is None


def test_every_number_of_a_message_is_a_measurement() -> None:
    found = explain(FULL)

    assert found.measurements["segment_bytes"] == 4 * GIB
    assert found.measurements["free_in_sum_bytes"] == 100 * MIB
    assert found.measurements["missing_bytes"] == 4 * GIB - 100 * MIB


def test_names_are_those_of_the_rules() -> None:
    names = {rule.code: rule.name for rule in all_rules()}

    assert {code: name for code, name in NAMES.items() if code in names} == {
        code: names[code] for code in NAMES if code in names
    }


def test_lines_hold_the_verdict_and_its_evidence() -> None:
    lines = explain(f"start\n[rank2]: {PIECES}\n").lines()

    assert lines[0] == "FRAG201 pinned-segments (likely)"
    assert [line[:6] for line in lines[1:4]] == ["  What", "  Why ", "  Do  "]
    assert lines[5].startswith("Line 2, rank 2: CUDA out of memory. Tried to allocate 2.00 GiB.")
    assert lines[-1] == RECORDING


def test_a_failure_printed_by_the_program_and_by_the_launcher_is_one() -> None:
    other = Truth(device=1, request=2 * GIB, free=90 * MIB, in_use=10 * GIB, reserved=23 * GIB).text("2.6")
    text = (
        f"An error occurred: {PIECES}\nAn error occurred: {other}\n"
        f"[rank0]: torch.OutOfMemoryError: {PIECES}\n[rank1]: torch.OutOfMemoryError: {other}\n"
        f"[rank8]: torch.OutOfMemoryError: {PIECES}\n"
    )

    rows = explain(text).rows

    assert [(row.message.origin.rank, row.message.device, row.message.line, row.message.repeats) for row in rows] == [
        (0, 0, 1, 2),
        (1, 1, 2, 2),
        (8, 0, 5, 1),
    ]
    assert rows[0].message.releases == ("2.4", "2.5", "2.6", "2.7", "2.8", "2.9")


def test_words_about_memory_that_are_not_understood_are_not_nothing_wrong() -> None:
    explanation = explain_log(scan_log(io.BytesIO(b"step 1\nsome engine: device out of memory\n")))

    assert (explanation.verdict.code, explanation.verdict.confidence) == ("REC790", "unsure")
    assert explanation.verdict.message.startswith("Line 2 speaks of running out of memory")


CUBLAS = "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"


def test_a_library_that_fails_after_pytorch_is_told_of_too() -> None:
    after, before = explain(f"{PIECES}\n{CUBLAS}"), explain(f"{CUBLAS}{PIECES}\n")

    assert [(one.code, one.severity) for one in after.findings][:1] == [("FRAG201", "error")]
    assert ("OUT502", "warning") in [(one.code, one.severity) for one in after.findings]
    assert [(one.code, one.severity) for one in before.findings] == [("OUT502", "error"), ("FRAG201", "warning")]


def test_what_other_ranks_messages_prove_stands_beside_a_library() -> None:
    found = explain(f"[rank0]: {CUBLAS}[rank3]: {PIECES}\n[rank2]: {FULL}\n")

    assert [one.code for one in found.findings] == ["REC790", "FRAG201", "OOM101"]
    assert [one["measurements"].get("reserved_bytes") for one in found.to_json()["findings"][1:]] == [23 * GIB] * 2


def limited(request: str, allocated: str, unallocated: str) -> str:
    """A message of a process that may have 8 GiB of a card with 60 free."""
    return (
        f"CUDA out of memory. Tried to allocate {request}. GPU 0 has a total capacity of 79.15 GiB of which 60.50 GiB"
        " is free. Including non-PyTorch memory, this process has 8.60 GiB memory in use. 8.00 GiB allowed; Of the"
        f" allocated memory {allocated} is allocated by PyTorch, and {unallocated} is reserved by PyTorch but"
        " unallocated."
    )


@pytest.mark.parametrize("request_size", ["2.00 MiB", "20.00 MiB", "200.00 MiB"])
def test_a_card_with_room_is_not_held_by_others(request_size: str) -> None:
    verdict = explain(limited(request_size, "7.90 GiB", "80.00 MiB")).verdict

    assert verdict.code == "OOM103"
    assert "8.00 GiB allowed, while the card had 60.50 GiB free" in verdict.message


def test_what_is_left_under_a_limit_is_not_left_on_the_card() -> None:
    verdict = explain(limited("1.00 GiB", "6.50 GiB", "1.49 GiB")).verdict

    assert verdict.code == "FRAG201"
    assert "10.24 MiB left under the memory limit" in verdict.message
