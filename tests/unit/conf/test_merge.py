"""Settings put back into text."""

from __future__ import annotations

import pytest

from gapless.conf import NEWEST, Release, Settings, format_settings, line_to_copy, merge, parse
from gapless.errors import ConfError
from gapless.units import MIB


@pytest.mark.parametrize(
    ("text", "changes", "merged"),
    [
        ("", {"expandable_segments": "True"}, "expandable_segments:True"),
        (" , ", {"expandable_segments": "True"}, "expandable_segments:True"),
        ("a:1", {"expandable_segments": "True"}, "a:1,expandable_segments:True"),
        ("a:1, ", {"expandable_segments": "True"}, "a:1,expandable_segments:True"),
        ("max_split_size_mb:64, x:[1,2]", {"max_split_size_mb": "128"}, "max_split_size_mb:128, x:[1,2]"),
        ("max_split_size_mb:64,y:2,max_split_size_mb:32", {"max_split_size_mb": "128"}, "y:2,max_split_size_mb:128"),
        ("release_lock_on_hipmalloc:False", {"release_lock_on_cudamalloc": "True"}, "release_lock_on_hipmalloc:True"),
        ("a:1,max_split_size_mb:64", {"max_split_size_mb": None}, "a:1"),
        ("max_split_size_mb:64, a:1", {"max_split_size_mb": None}, "a:1"),
        ("max_split_size_mb:64", {"max_split_size_mb": None}, ""),
        ("a:1,max_split_size_mb:64, ", {"max_split_size_mb": "128"}, "a:1,max_split_size_mb:128"),
        ("max_split_size_mb:64,a:1,", {"max_split_size_mb": None}, "a:1"),
        ("a:1,", {"max_split_size_mb": None}, "a:1"),
        ("a:1,", {}, "a:1,"),
        ("a:1", {"max_split_size_mb": None}, "a:1"),
        ("a", {"expandable_segments": "True", "backend": "native"}, "a,expandable_segments:True,backend:native"),
    ],
)
def test_change_is_put_into_the_users_own_string(text: str, changes: dict[str, str | None], merged: str) -> None:
    assert merge(text, changes) == merged


def test_change_to_an_unknown_option_is_refused() -> None:
    with pytest.raises(ConfError, match="no PyTorch release has an option 'max_split_size'") as caught:
        merge("", {"max_split_size": "1"})
    assert caught.value.hint == "did you mean max_split_size_mb?"


def test_nothing_is_added_inside_an_open_list() -> None:
    with pytest.raises(ConfError, match="has no closing bracket"):
        merge("roundup_power2_divisions:[1:2", {"expandable_segments": "True"})


def test_merged_change_is_in_force() -> None:
    text = "max_split_size_mb:64,expandable_segments:False,max_split_size_mb:32"

    settings = parse(merge(text, {"max_split_size_mb": "256", "expandable_segments": "True"})).settings

    assert settings == Settings(max_split_size=256 * MIB, expandable_segments=True)


def test_all_fields_are_written() -> None:
    settings = Settings(
        max_split_size=128 * MIB,
        max_non_split_rounding=96 * MIB,
        large_segment_size=64 * MIB,
        roundup_power2_divisions=(0, 0, 4, 4) + (8,) * 12,
        garbage_collection_threshold=0.1 + 0.2,
        expandable_segments=True,
        per_process_memory_fraction=0.9,
        throw_on_cudamalloc_oom=True,
        release_lock_on_cudamalloc=True,
        graph_capture_record_stream_reuse=True,
        pinned_use_cuda_host_register=True,
        pinned_num_register_threads=8,
        pinned_use_background_threads=True,
        pinned_reserve_segment_size=512 * MIB,
        pinned_free_catch_all=True,
        pinned_max_round_threshold=32 * MIB,
        pinned_max_cached_size=32 * MIB,
    )

    parsed = parse(format_settings(settings), NEWEST)

    assert parsed.problems == ()
    assert parsed.settings == settings


def test_lists_are_written_so_that_every_release_reads_them_alike() -> None:
    settings = parse("roundup_power2_divisions:[256:1,512:2,>:8]", NEWEST).settings

    text = format_settings(settings)

    assert ">" not in text
    assert parse(text, Release(2, 2)).settings == parse(text, NEWEST).settings == settings


def test_rounding_that_follows_the_large_segment_is_not_written() -> None:
    settings = Settings(large_segment_size=64 * MIB, max_non_split_rounding=64 * MIB)

    assert format_settings(settings) == "large_segment_size_mb:64"


def test_size_between_mebibytes_cannot_be_written() -> None:
    with pytest.raises(ConfError, match="max_split_size_mb of 1000 bytes is not a whole number of MiB"):
        format_settings(Settings(max_split_size=1000))


def test_line_is_quoted_only_where_the_shell_needs_it() -> None:
    assert line_to_copy("expandable_segments:True,max_split_size_mb:64") == (
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:64"
    )
    assert line_to_copy("x:[>:2]") == "PYTORCH_CUDA_ALLOC_CONF='x:[>:2]'"
