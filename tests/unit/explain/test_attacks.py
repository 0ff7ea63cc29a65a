"""Verdicts where one reason looks like another: the numbers are of `tests.attacks`."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.explain import explain
from gapless.units import MIB
from tests.attacks import attack


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("shrunk", "OUT501"),
        ("shrunk beside weights", "OUT501"),
        ("shrunk a little", "OUT501"),
        ("shrunk a little beside weights", "OOM101"),
        ("failed before", "OUT501"),
        ("cut after others came", "FRAG201"),
        ("lowered", "OOM103"),
        ("limited", "OOM103"),
        ("limited in pieces", "OOM103"),
        ("limited small", "OOM103"),
        ("small holes", "FRAG201"),
        ("large hole", "FRAG201"),
        ("too much at once", "OOM101"),
    ],
)
def test_the_clear_reason_is_the_verdict(tmp_path: Path, name: str, code: str) -> None:
    assert explain(attack(name, tmp_path)).verdict.code == code


@pytest.mark.parametrize("name", ["shrunk", "shrunk a little", "failed before"])
def test_what_was_to_be_had_earlier_is_not_larger_than_the_card(tmp_path: Path, name: str) -> None:
    assert "OOM102" not in {finding.code for finding in explain(attack(name, tmp_path)).findings}


def test_a_lowered_limit_lies_above_what_was_reserved_when_it_refused(tmp_path: Path) -> None:
    """Earlier 6000 MiB were reserved; the limit of 3200 refused 3000 beside 1000."""
    finding = explain(attack("lowered", tmp_path)).findings[0]

    assert finding.measurements["limit_bytes_least"] == 1000 * MIB
    assert finding.measurements["limit_bytes_most"] == 4000 * MIB - 1
    assert finding.measurements["fraction_guess"] is None


def test_pieces_that_only_the_most_of_a_limit_would_leave_are_not_known(tmp_path: Path) -> None:
    """The limit lies between 700 and 1450 MiB; 750 fail beside 688 in the cache."""
    verdict = explain(attack("limited in pieces", tmp_path)).verdict

    assert "the limit lies between 700.00 MiB and 1.42 GiB (where in between decides" in verdict.why
    assert "no other allocator setting helps" not in verdict.what_to_do


def test_holes_of_the_other_class_are_named_with_their_pins(tmp_path: Path) -> None:
    small, large = (explain(attack(name, tmp_path)) for name in ("small holes", "large hole"))

    assert small.verdict.message.endswith(
        "no hole is for requests over 1.00 MiB, those there are serve only requests up to 1.00 MiB."
    )
    assert small.verdict.why == (
        "150 segments for requests up to 1.00 MiB with 285.35 MiB free cannot be returned: 150 blocks of 100.00 KiB lie"
        " in them, allocated at train.py:5."
    )
    assert len(small.pins) == 64
    assert large.verdict.why == (
        "1 segment for requests over 1.00 MiB with 998.00 MiB free cannot be returned: 1 block of 2.00 MiB lies in"
        " it, allocated at train.py:8."
    )


def test_a_request_larger_than_all_in_use_is_what_to_make_smaller_first(tmp_path: Path) -> None:
    what_to_do = explain(attack("too much at once", tmp_path)).verdict.what_to_do

    assert what_to_do.startswith("No allocator setting helps. What does: a smaller request at train.py:99, ")
    assert "train.py:42, which holds 500.00 MiB" in what_to_do
