"""What --vary says, and how values get into the command."""

from __future__ import annotations

import pytest

from gapless.errors import InputError
from gapless.fit.varied import Choices, Span, check_used, filled, parse_varied


def test_a_span_has_its_values_by_steps() -> None:
    span = parse_varied("length=1024:4096:1024")

    assert span == Span("length", 1024, 4096, 1024)
    assert [span.value(index) for index in range(span.count)] == [1024, 2048, 3072, 4096]


def test_a_span_ends_before_its_most_where_steps_do() -> None:
    assert Span("batch", 1, 8, 3).count == 3  # 1, 4, 7


def test_choices_are_kept_as_written_and_once() -> None:
    assert parse_varied("impl=sdpa,eager,sdpa") == Choices("impl", ("sdpa", "eager"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("batch", "is not NAME=VALUES"),
        ("=1:2", "is not NAME=VALUES"),
        ("batch=", "is not NAME=VALUES"),
        ("a b=1:2", "is not NAME=VALUES"),
        ("batch=8:2", "has no value from its least to its most"),
        ("batch=1:8:0", "has no value from its least to its most"),
        ("n=" + ",".join(map(str, range(65))), "names 65 values, and 64 are tried at most"),
    ],
)
def test_what_means_nothing_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        parse_varied(text)


def test_braces_that_name_nothing_stay() -> None:
    words = ["-c", "d = {1: 2}; print(f'{batch} {d}')", "{batch}"]

    assert filled(words, {"batch": "8"}) == ["-c", "d = {1: 2}; print(f'8 {d}')", "8"]


@pytest.mark.parametrize(
    ("varied", "complaint"),
    [
        ([Span("batch", 1, 8), Span("batch", 1, 8)], "batch is varied twice"),
        ([Span("batch", 1, 8), Span("length", 1, 8)], "batch and length are both spans"),
        ([Choices("other", ("a",))], "the command does not say where other goes"),
    ],
)
def test_the_command_has_to_use_what_is_varied(varied: list[Span | Choices], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        check_used(["train.py", "{batch}", "{length}"], varied)
