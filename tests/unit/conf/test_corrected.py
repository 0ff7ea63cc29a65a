"""The corrected line: what is mended, and what is left to the user."""

from __future__ import annotations

import pytest

from gapless.conf import NEWEST, Release, corrected
from gapless.conf.answer import answer


@pytest.mark.parametrize(
    ("text", "torch", "mended"),
    [
        ("", "2.14", ""),
        ("max_split_size_mb:128", "2.14", "max_split_size_mb:128"),
        ('"expandable_segments:True"', "2.14", "expandable_segments:True"),
        ("max_splt_size_mb:64;expandable_segments:true", "2.14", "expandable_segments:True"),
        ("garbage_colection_threshold:0.8", "2.14", "garbage_collection_threshold:0.8"),
        ("max_split_size_mb=512", "2.14", "max_split_size_mb:512"),
        ("max_split_size_mb:512MB", "2.14", "max_split_size_mb:512"),
        ("max_split_size_mb:20", "2.9", "max_split_size_mb:21"),
        ("max_split_size_mb:20,large_segment_size_mb:32", "2.14", "max_split_size_mb:32,large_segment_size_mb:32"),
        ("large_segment_size_mb:32,expandable_segments:True", "2.10", "expandable_segments:True"),
        ("expandable_segments:True,max_split_size_mb:128", "2.14", "expandable_segments:True"),
        ("max_split_size_mb:128, ", "2.14", "max_split_size_mb:128"),
        ("max_split_size_mb:64;", "2.14", "max_split_size_mb:64"),
        (",max_split_size_mb:64", "2.14", "max_split_size_mb:64"),
        ("max_split_size_mb:64,max_split_size_mb:128", "2.14", "max_split_size_mb:128"),
        ("expandable_segments:False", "2.14", "expandable_segments:False"),
        ("garbage_collection_threshold:1.5,backend:native", "2.14", "backend:native"),
    ],
)
def test_mechanical_mistakes_are_mended(text: str, torch: str, mended: str) -> None:
    assert corrected(text, Release.parse(torch)) == mended


@pytest.mark.parametrize("text", ["frobnicate:1", "backend:x", "roundup_power2_divisions:12", "max_split_size_mb:"])
def test_what_only_the_user_knows_is_left_to_the_user(text: str) -> None:
    assert corrected(text, NEWEST) is None


def test_nothing_is_to_copy_where_an_error_stands() -> None:
    assert corrected("per_process_memory_fraction:0", NEWEST) is None
    assert corrected("per_process_memory_fraction:0.5", NEWEST) == "per_process_memory_fraction:0.5"


def test_what_the_program_uses_makes_a_line_one_not_to_copy() -> None:
    text = "expandable_segments:True"

    assert answer(text, NEWEST, uses=["ipc"]).corrected is None
    assert answer(text, NEWEST).corrected == text
