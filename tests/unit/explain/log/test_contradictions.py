"""A message whose numbers contradict each other is told so, and nothing that follows is called sure."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapless.explain.log import explain_log
from gapless.explain.log.contradictions import contradictions
from gapless.sources.log import scan_log
from tests.property.test_log_verdicts import truths
from tests.unit.sources.log.messages import GIB, MIB, PARENTHESIS_RELEASES, SENTENCE_RELEASES, Truth

FULL = Truth(capacity=80 * GIB, request=30 * GIB, free=GIB, in_use=70 * GIB, reserved=75 * GIB)


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        (replace(FULL, capacity=0, free=5 * GIB, in_use=0, reserved=0), "the card has 0 bytes"),
        (
            replace(FULL, capacity=0, free=5 * GIB, in_use=0, reserved=0),
            "5.00 GiB of the card are free, which has 0 bytes",
        ),
        (replace(FULL, request=0), "0 bytes were asked for"),
        (replace(FULL, free=81 * GIB), "81.00 GiB of the card are free, which has 80.00 GiB"),
        (replace(FULL, free=6 * GIB), "75.00 GiB reserved and 6.00 GiB free are more than the card's 80.00 GiB"),
        (replace(FULL, this_process=90 * GIB), "this process holds 90.00 GiB of a card of 80.00 GiB"),
        (replace(FULL, this_process=70 * GIB), "PyTorch reserves 75.00 GiB, while its process holds 70.00 GiB"),
    ],
)
def test_what_cannot_be_is_said_with_its_numbers(truth: Truth, said: str) -> None:
    found = explain_log(scan_log(io.BytesIO(truth.text("2.6").encode())))

    assert found.verdict.confidence == "unsure"
    assert said in found.verdict.why
    assert found.verdict.what_to_do.startswith("Compare the message with what the program printed first.")


def test_more_free_in_private_pools_than_allocated() -> None:
    in_pools = "is allocated by PyTorch, with 71.00 GiB allocated in private pools (e.g., CUDA Graphs),"
    text = FULL.text("2.6").replace("is allocated by PyTorch,", in_pools)

    found = explain_log(scan_log(io.BytesIO(text.encode())))

    assert "71.00 GiB are free in private pools, while 70.00 GiB are allocated in all" in found.verdict.why


def test_more_allocated_than_reserved_is_nothing_to_be_sure_of() -> None:
    truth = replace(FULL, capacity=8 * GIB, request=9 * MIB, free=0, in_use=7 * GIB, reserved=0)

    found = explain_log(scan_log(io.BytesIO(truth.text("2.0").encode())))

    assert (found.verdict.code, found.verdict.confidence) == ("OUT501", "likely")
    assert "more is allocated than reserved" in found.verdict.why


def test_cuda_malloc_async_on_a_card_of_nothing() -> None:
    text = (
        "Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 6.16 GiB\n"
        "Requested               : 0 bytes\nDevice limit            : 0 bytes\nFree (according to CUDA): 24.19 MiB\n"
        "PyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB\n"
    )

    found = explain_log(scan_log(io.BytesIO(text.encode())))

    assert found.verdict.confidence == "unsure"
    assert "0 bytes were asked for; the card has 0 bytes" in found.verdict.why


def test_what_adds_up_stays_certain() -> None:
    found = explain_log(scan_log(io.BytesIO(FULL.text("2.6").encode())))

    assert (found.verdict.code, found.verdict.confidence) == ("OOM101", "certain")


def test_memory_that_windows_lends_is_no_contradiction() -> None:
    text = replace(FULL, capacity=8 * GIB, request=MIB * 1002, free=0, in_use=14 * GIB, reserved=14 * GIB).text("2.9")

    found = explain_log(scan_log(io.BytesIO(text.encode())))

    assert (found.verdict.confidence, "contradict" in found.verdict.why) == ("likely", False)


@given(truths(), st.sampled_from(SENTENCE_RELEASES + PARENTHESIS_RELEASES))
def test_no_message_that_pytorch_prints_contradicts_itself(truth: Truth, release: str) -> None:
    found = explain_log(scan_log(io.BytesIO(truth.text(release).encode())))

    assert found.numbers is not None
    assert contradictions(found.numbers) == []
