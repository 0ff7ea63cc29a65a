"""Laws of the settings string, on text that people write and on text that nobody does."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapless.conf import NEWEST, OPTIONS, RELEASES, Release, Settings, check, corrected, format_settings, merge, parse
from gapless.conf.answer import answer
from gapless.conf.problems import Problem
from gapless.errors import ConfError
from gapless.units import MIB

releases = st.sampled_from(RELEASES[1:])
_KEYS = [option.name for option in OPTIONS]
_COLONS = [":", ":", ":", "", ",", "="]
_VALUES = ["True", "False", "native", "0.5", "0", "1", "4", "21", "64", "-1", "x", "", "[1:2,>:4]", "[64:8,256:4]", "["]
_items = st.tuples(st.sampled_from(_KEYS), st.sampled_from(_COLONS), st.sampled_from(_VALUES)).map("".join)
likely = st.builds(str.join, st.sampled_from([",", ",", ", ", ";"]), st.lists(_items, max_size=6))
hostile = st.one_of(st.text(max_size=200), st.text(alphabet=",:[]> \t\0\xe90aT", max_size=200), likely)
few = settings(max_examples=50, deadline=None)


def _sizes(most_mib: int) -> st.SearchStrategy[int]:
    return st.integers(64, most_mib).map(lambda mib: mib * MIB)


@st.composite
def writable(draw: st.DrawFn) -> Settings:
    """Settings that the newest release can be brought to by a text."""
    large = draw(st.one_of(st.just(20 * MIB), st.integers(11, 64).map(lambda mib: mib * MIB)))
    divisions = st.one_of(st.just(0), st.integers(0, 10).map(lambda power: 1 << power))
    fraction = st.floats(0, 1, exclude_min=True, exclude_max=True, allow_subnormal=False)
    threads = st.integers(0, 7).map(lambda power: 1 << power)
    fields: dict[str, Any] = {
        "max_split_size": draw(st.none() | _sizes(1 << 20)),
        "max_non_split_rounding": draw(st.just(large) | _sizes(1 << 20)),
        "large_segment_size": large,
        "roundup_power2_divisions": tuple(draw(st.lists(divisions, min_size=16, max_size=16))),
        "garbage_collection_threshold": draw(st.just(0.0) | fraction),
        "per_process_memory_fraction": draw(st.just(1.0) | fraction),
        "pinned_num_register_threads": draw(threads),
        "pinned_reserve_segment_size": draw(st.just(0) | _sizes(1 << 12)),
        "pinned_max_round_threshold": draw(st.none() | _sizes(1 << 12)),
        "pinned_max_cached_size": draw(st.none() | _sizes(1 << 12)),
    }
    switches = [option.field for option in OPTIONS if option.kind.name == "BOOL"]
    return Settings(**fields, **{name: draw(st.booleans()) for name in switches})


@few
@given(writable())
def test_reading_what_was_written_gives_the_same_settings(wanted: Settings) -> None:
    parsed = parse(format_settings(wanted))

    assert parsed.problems == ()
    assert parsed.settings == wanted


@few
@given(hostile, releases)
def test_writing_what_was_read_is_stable(text: str, release: Release) -> None:
    once = parse(text, release).settings

    again = parse(format_settings(once), NEWEST).settings

    assert again == once


@few
@given(hostile, releases, st.booleans())
def test_any_text_is_read_and_a_problem_has_a_place_and_words(text: str, release: Release, at_load: bool) -> None:
    parsed = parse(text, release, at_load=at_load)

    assert len(parsed.problems) <= 1
    for problem in parsed.problems:
        assert isinstance(problem, Problem)
        assert 0 <= problem.position <= len(text)
        assert problem.message
        assert problem.hint
        assert problem.torch_error or problem.code == "unclosed-list"


@few
@given(hostile, releases)
def test_any_text_is_checked(text: str, release: Release) -> None:
    for finding in check(text, release):
        assert finding.message
        assert finding.position is None or 0 <= finding.position <= len(text)


@few
@given(hostile, releases)
def test_a_corrected_text_is_accepted(text: str, release: Release) -> None:
    mended = corrected(text, release)

    assert mended is None or not parse(mended, release, at_load=True).problems


@few
@given(likely, releases)
def test_correcting_twice_changes_nothing_more(text: str, release: Release) -> None:
    mended = corrected(text, release)

    assert mended is None or corrected(mended, release) == mended


@few
@given(hostile, st.sampled_from(["64", "128"]))
def test_a_merged_change_is_the_last_word(text: str, size: str) -> None:
    with suppress(ConfError):
        parsed = parse(merge(text, {"max_split_size_mb": size}))
        assert parsed.problems or parsed.settings.max_split_size == int(size) * MIB


@few
@given(likely)
def test_merging_twice_is_merging_once(text: str) -> None:
    with suppress(ConfError):
        once = merge(text, {"expandable_segments": "True"})
        assert merge(once, {"expandable_segments": "True"}) == once


@few
@given(st.text(max_size=60))
def test_any_version_is_read_or_refused(text: str) -> None:
    release = None
    with suppress(ConfError):
        release = Release.parse(text)
    assert release is None or release in RELEASES


@pytest.mark.parametrize(
    "text",
    [
        "[" * 1_000_000,
        ":" * 1_000_000,
        "," * 1_000_000,
        "\0" * 1_000_000,
        "max_split_size_mb:" + "9" * 1_000_000,
        "garbage_collection_threshold:0x" + "f" * 1_000_000,
        "roundup_power2_divisions:[" + "1:2," * 20_000,
        "max_split_size_mb:100," * 5_000,
        "\ud800\u202e" * 10_000,
    ],
    ids=lambda text: text[:12],
)
def test_a_megabyte_of_nonsense_is_read_in_its_time(text: str) -> None:
    for release in (Release(2, 4), Release(2, 9), NEWEST):
        assert len(parse(text, release).problems) <= 1
    assert len(answer(text[:131_072]).findings) <= 100
    with suppress(ConfError):
        assert "max_split_size_mb:64" in merge(text, {"max_split_size_mb": "64"})
