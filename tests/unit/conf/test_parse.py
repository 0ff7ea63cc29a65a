"""Single rules of the reading, with the examples that were measured on the real libraries."""

from __future__ import annotations

import pytest

from gapless.conf import NEWEST, OPTIONS, RELEASES, Release, Settings, parse
from gapless.units import MIB

R29, R210, R211 = Release(2, 9), Release(2, 10), Release(2, 11)


def divisions(text: str, release: Release) -> tuple[int, ...]:
    parsed = parse(f"roundup_power2_divisions:{text}", release)
    assert not parsed.problems
    return parsed.settings.roundup_power2_divisions


def error(text: str, release: Release) -> str:
    return parse(text, release).problems[0].torch_error


def test_nothing_means_defaults() -> None:
    assert parse("").settings == Settings()
    assert Settings().max_split_size is None


def test_rest_of_a_list_replaces_the_last_size_up_to_2_9() -> None:
    text = "[256:1,512:2,1024:4,>:8]"

    assert divisions(text, R29) == (1,) * 9 + (2,) + (8,) * 6
    assert divisions(text, R210) == (1,) * 9 + (2, 4) + (8,) * 5


def test_first_size_fills_below_and_later_ones_set_only_themselves() -> None:
    assert divisions("[4:2,16:8]", NEWEST) == (2, 2, 2, 0, 8) + (0,) * 11


def test_sizes_beyond_the_table_set_its_last_entry() -> None:
    assert divisions("[32768:2,65536:4]", NEWEST) == (2,) * 15 + (4,)


def test_zero_in_a_list_came_with_2_4() -> None:
    text = "roundup_power2_divisions:[256:0,512:2]"

    assert error(text, Release(2, 3)) == "For roundups, the divisons has to be power of 2 "
    assert divisions("[256:0,512:2]", Release(2, 4)) == (0,) * 9 + (2,) + (0,) * 6


@pytest.mark.parametrize("release", [R29, R210])
def test_zero_for_all_sizes_is_refused_everywhere(release: Release) -> None:
    assert "has to be power of 2" in error("roundup_power2_divisions:0", release)


def test_lower_bound_of_the_split_limit_moved_with_the_releases() -> None:
    name = "CachingAllocator option max_split_size_mb too small, must be"

    assert error("max_split_size_mb:20", R29) == f"{name} > 20"
    assert error("max_split_size_mb:19", R210) == f"{name} >= 20"
    assert parse("max_split_size_mb:20", R210).settings.max_split_size == 20 * MIB
    assert error("max_split_size_mb:63,large_segment_size_mb:64", R211) == f"{name} >= 64"


def test_large_segment_size_is_read_first_wherever_it_stands() -> None:
    settings = parse("max_split_size_mb:32,large_segment_size_mb:30", R211).settings

    assert (settings.max_split_size, settings.large_segment_size) == (32 * MIB, 30 * MIB)
    assert settings.max_non_split_rounding == 30 * MIB


def test_a_reading_resets_the_first_group_only() -> None:
    text = (
        "max_split_size_mb:100,garbage_collection_threshold:0.5,roundup_power2_divisions:4,expandable_segments:True,"
        "max_non_split_rounding_mb:50,release_lock_on_cudamalloc:True"
    )

    for release, rounding in ((R210, 50 * MIB), (R211, 20 * MIB)):
        after = parse("pinned_use_cuda_host_register:True", release, parse(text, release).settings).settings
        assert after == Settings(
            expandable_segments=True,
            release_lock_on_cudamalloc=True,
            pinned_use_cuda_host_register=True,
            max_non_split_rounding=rounding,
        )


@pytest.mark.parametrize("release", RELEASES[1:])
def test_table_says_which_options_a_reading_resets(release: Release) -> None:
    changed = Settings(
        max_split_size=99 * MIB,
        max_non_split_rounding=98 * MIB,
        garbage_collection_threshold=0.5,
        roundup_power2_divisions=(2,) * 16,
        expandable_segments=True,
        release_lock_on_cudamalloc=True,
    )

    after = parse("", release, changed).settings

    for option in OPTIONS:
        resets = option.reset_since is not None and option.reset_since <= release
        expected = getattr(Settings() if resets else changed, option.field)
        assert getattr(after, option.field) == expected, option.name


def test_what_stands_before_an_error_stays_in_force() -> None:
    parsed = parse("max_split_size_mb:100,nonsense:1,garbage_collection_threshold:0.5", R29)

    assert parsed.settings == Settings(max_split_size=100 * MIB)
    assert [item.applied for item in parsed.items] == [True, False, False]
    assert parsed.problems[0].position == len("max_split_size_mb:100,")


def test_an_error_in_one_half_keeps_the_other_half_out_from_2_10() -> None:
    text = "release_lock_on_cudamalloc:True,max_split_size_mb:5"

    assert parse(text, R29).settings.release_lock_on_cudamalloc is True
    assert parse(text, R210).settings.release_lock_on_cudamalloc is False


def test_wrong_separator_is_an_error_up_to_2_9_and_swallowed_later() -> None:
    assert error("max_split_size_mb,100", R29) == "Error parsing CachingAllocator settings, expected :"
    assert parse("max_split_size_mb,100", R210).settings.max_split_size == 100 * MIB


def test_semicolon_hides_the_next_option() -> None:
    text = "max_split_size_mb:100;expandable_segments:False"

    assert error(text, R29) == "Error parsing CachingAllocator settings, expected ,"
    assert error(text, R210) == "Unrecognized key 'False' in Accelerator allocator config."


def test_unknown_key_is_worded_by_the_half_that_meets_it() -> None:
    assert error("nonsense:1", R29) == "Unrecognized CachingAllocator option: nonsense"
    loaded = parse("nonsense:1", R210, at_load=True)
    assert loaded.problems[0].torch_error == "Unrecognized key 'nonsense' in CUDA allocator config."


def test_backend_is_chosen_when_torch_is_loaded() -> None:
    text = "backend:cudaMallocAsync"

    assert parse(text, at_load=True).settings.backend == "cudaMallocAsync"
    assert parse(text).problems[0].code == "backend-changed"


def test_blank_in_the_backend_confuses_releases_up_to_2_9() -> None:
    text = "backend: cudaMallocAsync"

    assert parse(text, R29, at_load=True).problems[0].code == "backend-changed"
    assert parse(text, R210, at_load=True).settings.backend == "cudaMallocAsync"


def test_list_cut_after_a_value_crashes_up_to_2_6() -> None:
    problem = parse("roundup_power2_divisions:[256:1", Release(2, 6)).problems[0]

    assert (problem.code, problem.torch_error) == ("unclosed-list", "")
    assert "crash" in problem.message


def test_option_is_unknown_before_its_release() -> None:
    for option in OPTIONS:
        for release in RELEASES:
            codes = {problem.code for problem in parse(f"{option.name}:", release).problems}
            assert ("unknown-key" in codes) == (release < option.since), (option.name, release)


def test_aliases_set_the_same_option() -> None:
    assert parse("release_lock_on_hipmalloc:True").settings.release_lock_on_cudamalloc is True
    assert parse("pinned_use_hip_host_register:True").settings.pinned_use_cuda_host_register is True


def test_items_are_what_a_person_sees() -> None:
    items = parse(" max_split_size_mb: 1 0 0 , roundup_power2_divisions:[1:2,>:4],x").items

    assert [(item.key, item.value, item.start, item.end) for item in items] == [
        ("max_split_size_mb", "100", 1, 25),
        ("roundup_power2_divisions", "[1:2,>:4]", 28, 62),
        ("x", None, 63, 64),
    ]
