"""Memory fractions, as each release computes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gapless.cards import Card
from gapless.conf import Release, Settings
from gapless.errors import InputError
from gapless.tune.candidate import setting
from gapless.tune.candidates import propose_all
from gapless.tune.limits import fraction_for, fraction_leaving, limit_of_fraction
from gapless.tune.search import try_all
from gapless.tune.sizes import decisive_sizes
from gapless.units import MIB
from tests.programs import Program, user
from tests.unit.tune.made import case, training


@pytest.mark.parametrize(
    ("fraction", "total", "release", "limit"),
    [
        (0.5, 1001, Release(2, 1), 500),
        (0.5, 1001, Release(2, 12), 500),
        (0.5, 1001, Release(2, 13), 501),
        (0.9, 14, Release(2, 14), 13),
        (1.0, 1001, Release(2, 9), 1001),
        (1.0, 1001, Release(2, 10), None),
        (0.0, 1001, Release(2, 14), 0),
    ],
)
def test_a_fraction_becomes_bytes_as_the_release_does_it(
    fraction: float, total: int, release: Release, limit: int | None
) -> None:
    assert limit_of_fraction(fraction, total, release) == limit


def test_a_fraction_never_allows_more_than_was_meant() -> None:
    assert fraction_for(999, 1000) == 0.999
    assert fraction_for(18_999_999, 24_000_000) == 0.791
    assert fraction_leaving(Card("x", 20_000, 24_000), 8_000, Settings()) == 0.5
    assert fraction_leaving(Card("x", 20_000, 24_000), 30_000, Settings()) == 0.0


@pytest.mark.parametrize(
    ("settings", "fraction"),
    [
        (Settings(), 0.75),
        (Settings(expandable_segments=True), 0.745),
        (Settings(expandable_segments=True, large_segment_size=128 * MIB), 0.718),
        (Settings(large_segment_size=128 * MIB), 0.75),
    ],
)
def test_the_last_page_of_expandable_segments_stays_out_of_what_is_free(settings: Settings, fraction: float) -> None:
    assert fraction_leaving(Card("x", 4000 * MIB, 4000 * MIB), 1000 * MIB, settings) == fraction


def test_a_fraction_of_the_users_own_settings_is_in_force_on_another_card(tmp_path: Path) -> None:
    """As `gapless replay` has it: 292 MiB are needed, of which half a card of 500 has 250."""
    recording = training(tmp_path, conf="per_process_memory_fraction:0.5")
    small, large = (case(recording, card=size * MIB) for size in (500, 600))

    assert (small.options().limit_bytes, large.options().limit_bytes) == (250 * MIB, 300 * MIB)
    assert [len(one.before.failures) for one in (small, large)] == [1, 0]


@pytest.mark.parametrize(
    ("conf", "leave_free", "complaint"),
    [
        (
            "per_process_memory_fraction:0.5",
            0,
            "the recorded settings allow 0.5 of the card",
        ),
        ("", 10, "nothing failed in this recording, so it does not show how large the card is"),
    ],
)
def test_a_share_of_an_unknown_card_is_refused(conf: str, leave_free: int, complaint: str, tmp_path: Path) -> None:
    """`gapless replay` and `gapless explain` refuse it as well."""
    recording = training(tmp_path, conf=conf)

    with pytest.raises(InputError, match=complaint):
        case(recording, leave_free=leave_free * MIB)
    assert case(recording, card=600 * MIB, leave_free=leave_free * MIB).knows_card


def test_no_share_of_an_unknown_card_is_proposed(tmp_path: Path) -> None:
    unknown, known = case(training(tmp_path)), case(training(tmp_path), card=2000 * MIB)

    fractions = [{one.fraction for one in propose_all(made, decisive_sizes(made))} for made in (unknown, known)]

    assert fractions[0] == {None}
    assert fractions[1] > {None}


@pytest.mark.parametrize("leave_free", [100, 110, 117])
def test_expandable_segments_leave_free_what_has_to_stay_free(tmp_path: Path, leave_free: int) -> None:
    """Sizes that fill no page: 63 blocks of 9.6 MiB, each of which may map a page beyond the limit."""
    program = Program(capacity_bytes=800 * MIB)
    for k in range(63):
        program.alloc(k, 9 * MIB + 600 * 1024, at=user(1))
    made = case(program.open(tmp_path), card=700 * MIB, leave_free=leave_free * MIB)
    cure = setting(made, {"expandable_segments": "True"})
    assert cure is not None

    (one,) = try_all(made, [cure])

    assert one.fix.reserved_bytes_peak_after <= (700 - leave_free) * MIB
    assert one.fix.reserved_bytes_peak_after > (700 - leave_free - 45) * MIB
