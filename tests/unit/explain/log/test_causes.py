"""Each cause: where it holds, where it just does not, and what advice it gives."""

from __future__ import annotations

import io

import pytest

from gapless.explain.log import LogExplanation, explain_log
from gapless.explain.log.advice import RECORDING
from gapless.sources.log import scan_log
from tests.unit.sources.log.messages import GIB, MIB, Truth

# 24 GiB: 20 in use, 3 unallocated, 0.9 free, 0.1 outside. 4 GiB fail: neither in pieces nor at the limit.
BASE = Truth(
    capacity=24 * GIB,
    request=4 * GIB,
    free=922 * MIB,
    in_use=20 * GIB,
    reserved=23 * GIB,
    this_process=23 * GIB + 102 * MIB,
)


def explain(truth: Truth, release: str = "2.6", *, before: str = "") -> LogExplanation:
    """The explanation of one message."""
    return explain_log(scan_log(io.BytesIO(f"{before}{truth.text(release)}\n".encode())))


def changed(**values: object) -> Truth:
    """The base with other values."""
    return Truth(**{**vars(BASE), **values})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("truth", "code", "confidence"),
    [
        # OOM101 against FRAG201: 3 GiB + 922 MiB are free in sum.
        (BASE, "OOM101", "certain"),
        (changed(request=4000 * MIB), "OOM101", "likely"),
        (changed(request=3900 * MIB), "FRAG201", "likely"),
        (changed(request=2 * GIB), "FRAG201", "likely"),
        # 95 % of what PyTorch could have: 23.9 GiB.
        (changed(request=1000 * MIB, in_use=22 * GIB + 700 * MIB), "FRAG201", "likely"),
        (changed(request=1000 * MIB, in_use=22 * GIB + 730 * MIB), "OOM101", "likely"),
        # OOM102
        (changed(request=25 * GIB), "OOM102", "certain"),
        (changed(request=24 * GIB), "OOM101", "certain"),
        # OUT501
        (changed(in_use=8 * GIB, reserved=9 * GIB, this_process=10 * GIB), "OUT501", "certain"),
        (changed(in_use=8 * GIB, reserved=9 * GIB, request=1900 * MIB), "FRAG201", "likely"),
        # 2 GiB outside are more than a process needs; 1.9 GiB are not.
        (changed(in_use=20 * GIB, reserved=21 * GIB, request=2 * GIB, this_process=None), "OUT501", "certain"),
        (changed(in_use=20 * GIB, reserved=21 * GIB + 250 * MIB, this_process=None), "OOM101", "certain"),
        # 1.3 GiB of another process are 5 % of the card.
        (
            changed(in_use=21 * GIB, reserved=21 * GIB, request=2 * GIB, processes=((7, 1300 * MIB),)),
            "OUT501",
            "certain",
        ),
        (
            changed(in_use=21 * GIB, reserved=21 * GIB, request=2 * GIB, processes=((7, 1200 * MIB),), free=1700 * MIB),
            "OOM101",
            "certain",
        ),
        # OOM103: 21 GiB allowed, 20.5 reserved.
        (
            changed(allowed=21 * GIB, reserved=20 * GIB, request=1100 * MIB, free=3900 * MIB, this_process=20 * GIB),
            "OOM103",
            "certain",
        ),
        (
            changed(allowed=21 * GIB, reserved=20 * GIB, request=1100 * MIB, free=1000 * MIB, this_process=None),
            "OUT501",
            "certain",
        ),
        (
            changed(allowed=21 * GIB, in_use=15 * GIB, reserved=20 * GIB, request=2 * GIB, free=3900 * MIB),
            "FRAG201",
            "likely",
        ),
        # REC790: the card had it.
        (changed(request=900 * MIB), "REC790", "unsure"),
        (changed(request=930 * MIB), "FRAG201", "likely"),
    ],
)
def test_causes_and_their_near_misses(truth: Truth, code: str, confidence: str) -> None:
    verdict = explain(truth).verdict

    assert (verdict.code, verdict.confidence) == (code, confidence)


def test_private_pools_hold_what_is_missing() -> None:
    pools = changed(in_use=18 * GIB, private_free=3 * GIB, request=4 * GIB)

    assert explain(pools).verdict.code == "FRAG203"
    assert explain(changed(in_use=20 * GIB, private_free=GIB, request=5 * GIB)).verdict.code == "OOM101"
    assert explain(pools).measurements["private_pool_free_bytes"] == 3 * GIB


def test_pieces_beside_private_pools_may_be_pools() -> None:
    verdict = explain(changed(request=2 * GIB, private_free=GIB)).verdict

    assert verdict.code == "FRAG201"
    assert verdict.why.startswith("1.00 GiB more were free in private pools")
    assert "every segment that was wholly free" not in verdict.why
    assert "Sharing one pool between graphs" in verdict.what_to_do
    assert "private pools" not in explain(changed(request=2 * GIB)).verdict.why


def test_a_tensor_smaller_than_its_segment_leaves_doubt() -> None:
    """20 MiB asked for may be for 1.1 MiB: 5 MiB of free pieces are no proof."""
    truth = changed(request=20 * MIB, free=0, in_use=20 * GIB, reserved=20 * GIB + 5 * MIB, this_process=None)

    found = explain(truth)

    assert (found.verdict.code, found.verdict.confidence) == ("OUT501", "likely")
    assert explain(changed(request=20 * MIB, free=0, reserved=20 * GIB)).verdict.confidence == "certain"


def test_rounding_to_powers_of_two_leaves_doubt() -> None:
    before = "PYTORCH_CUDA_ALLOC_CONF=roundup_power2_divisions:2\n"

    assert explain(BASE).verdict.confidence == "certain"
    assert explain(BASE, before=before).verdict.confidence == "likely"


def test_advice_names_expandable_segments_only_where_they_may_help() -> None:
    pieces = changed(request=2 * GIB)
    line = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    on = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"

    assert line in explain(pieces).verdict.what_to_do
    for found in (
        explain(BASE),
        explain(changed(request=25 * GIB)),
        explain(changed(in_use=8 * GIB, reserved=9 * GIB)),
        explain(pieces, before=on),
        explain(pieces, "1.13"),
    ):
        assert line not in found.verdict.what_to_do
    assert "does not apply here" in explain(BASE).verdict.what_to_do
    assert "on already" in explain(pieces, before=on).verdict.what_to_do
    assert "max_split_size_mb:128" in explain(pieces, "1.13").verdict.what_to_do


def test_a_hint_that_is_missing_does_not_prove_that_segments_are_expandable() -> None:
    text = changed(request=2 * GIB).text("2.6")
    quoted = text[: text.index(" If reserved but unallocated")]  # whoever quotes a message may leave its end out
    off = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False\n"

    def advice(text: str) -> str:
        return explain_log(scan_log(io.BytesIO(f"{text}\n".encode()))).verdict.what_to_do

    assert advice(quoted).startswith("Try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True")
    assert "It may be on already" in advice(quoted)
    assert "on already" not in advice(text)
    assert advice(off + quoted).startswith("Try ")
    assert "on already" not in advice(off + quoted)


def test_advice_keeps_the_users_own_settings() -> None:
    before = "env: PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8,max_split_size_mb:64\n"

    line = "PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8,max_split_size_mb:64,expandable_segments:True"
    assert line in explain(changed(request=2 * GIB), before=before).verdict.what_to_do


def test_what_a_log_leaves_open_comes_with_the_line_to_record_it() -> None:
    pieces = explain(changed(request=2 * GIB))

    assert pieces.recording == RECORDING
    assert explain(BASE).recording == ""
    assert explain(changed(request=2 * GIB), "1.13").recording == ""


def test_memory_outside_pytorch_is_named_beside_another_verdict() -> None:
    truth = changed(reserved=22016 * MIB, in_use=21 * GIB, this_process=23 * GIB, processes=((9, 102 * MIB),))

    found = explain(truth)

    assert [(one.code, one.severity) for one in found.findings] == [("OOM101", "error"), ("OUT501", "info")]
    aside = found.findings[1]
    assert aside.bytes is not None
    assert abs(aside.bytes - 1638 * MIB) < 11 * MIB
    assert "1.50 GiB" in aside.why
    assert "process 9: 102.00 MiB" in aside.why


def test_a_process_in_a_container_is_recognised_by_its_size() -> None:
    found = explain(changed(this_process=None, processes=((4242, 23 * GIB + 102 * MIB),)))

    assert found.numbers is not None
    assert found.numbers.own_process is not None
    assert found.measurements["own_outside_bytes"] < 120 * MIB


@pytest.mark.parametrize(
    ("text", "code", "confidence"),
    [
        ("CUDA out of memory. Tried to allocate more than 1EB memory.", "OOM102", "certain"),
        (
            "CUDA out of memory. Allocation was preemptively rejected because it would exceed"
            " per_process_memory_fraction limit. Requested size: 2097152",
            "OOM103",
            "certain",
        ),
        ("CUDA out of memory. Tried to allocate 2.00 GiB. GPU ", "REC790", "unsure"),
        ("CUDA out of memory. Tried to allocate 2.00 GiB.", "REC790", "unsure"),
    ],
)
def test_rare_wordings(text: str, code: str, confidence: str) -> None:
    verdict = explain_log(scan_log(io.BytesIO(f"RuntimeError: {text}\n".encode()))).verdict

    assert (verdict.code, verdict.confidence) == (code, confidence)


@pytest.mark.parametrize(
    ("allocated", "request_size", "limit", "code", "confidence"),
    [
        ("8.28 GiB", "8.01 GiB", "17179869184.00 GiB", "OOM101", "certain"),
        ("15.40 GiB", "200.00 MiB", "17179869184.00 GiB", "OOM101", "likely"),
        ("3.50 GiB", "700.00 MiB", "4.00 GiB", "OOM103", "certain"),
        ("1.00 GiB", "17.00 GiB", "17179869184.00 GiB", "OOM102", "certain"),
        ("1.00 GiB", "2.00 GiB", "17179869184.00 GiB", "REC790", "unsure"),
    ],
)
def test_cuda_malloc_async(allocated: str, request_size: str, limit: str, code: str, confidence: str) -> None:
    text = (
        "Allocation on device 0 would exceed allowed memory. (out of memory)\n"
        f"Currently allocated     : {allocated}\nRequested               : {request_size}\n"
        "Device limit            : 15.70 GiB\nFree (according to CUDA): 48.38 MiB\n"
        f"PyTorch limit (set by user-supplied memory fraction)\n                        : {limit}\n"
    )

    verdict = explain_log(scan_log(io.BytesIO(text.encode()))).verdict

    assert (verdict.code, verdict.confidence) == (code, confidence)
