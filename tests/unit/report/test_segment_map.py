"""Segment maps, line by line."""

from __future__ import annotations

import pytest

from gapless.report.segment_map import DRAWN, MapOptions, segment_map
from tests.unit.report.states import FREE, MIB, PENDING, USED, state_of

LEGEND = "# in use  . free  ~ waiting for another stream"


def drawn(*lines: str) -> list[str]:
    """Lines of a map with its legend."""
    return [*lines, LEGEND]


def test_one_segment_fills_the_line() -> None:
    state = state_of([(10, USED), (30, FREE)])

    assert segment_map(state, MapOptions(width=80)) == drawn(
        "large  40.00 MiB      ##########..............................  30.00 MiB free"
    )


def test_segments_are_to_one_scale_and_those_with_most_free_memory_come_first() -> None:
    state = state_of([(20, USED)], [(5, FREE), (5, USED)], [(40, FREE)])

    assert segment_map(state, MapOptions(width=80)) == drawn(
        "large  40.00 MiB      ........................................  40.00 MiB free",
        "large  10.00 MiB      .....#####  5.00 MiB free",
        "large  20.00 MiB      ####################  full",
    )


def test_the_kind_of_a_segment_is_named() -> None:
    state = state_of([(2, USED)], small=True, expandable=True)

    assert segment_map(state, MapOptions(width=56))[0] == "small+ 2.00 MiB       ################  full"


def test_what_waits_for_another_stream_has_a_mark() -> None:
    state = state_of([(20, PENDING), (20, FREE)])

    assert segment_map(state, MapOptions(width=80))[0] == (
        "large  40.00 MiB      ~~~~~~~~~~~~~~~~~~~~....................  20.00 MiB free"
    )


def test_a_column_shows_what_most_of_it_is() -> None:
    state = state_of([(4, USED), (6, FREE), (6, USED), (4, FREE), (380, FREE)])

    assert segment_map(state, MapOptions(width=80))[0] == (
        "large  400.00 MiB     .#......................................  390.00 MiB free"
    )


def test_a_pin_is_seen_however_small_it_is() -> None:
    state = state_of([(399, FREE), (1, USED)])
    without, pinned = (segment_map(state, MapOptions(width=80, pins=pins))[0] for pins in ((), (1 << 40,)))

    assert without == "large  400.00 MiB     ........................................  399.00 MiB free"
    assert pinned == "large  400.00 MiB     .......................................P  399.00 MiB free"


def test_a_pin_is_marked_where_it_begins() -> None:
    state = state_of([(10, FREE), (30, USED)])

    assert segment_map(state, MapOptions(width=80, pins={1 << 40})) == [
        "large  40.00 MiB      ..........P#############################  10.00 MiB free",
        f"{LEGEND}  P pins its segment",
    ]


def test_blocks_of_other_segments_are_no_pins() -> None:
    state = state_of([(20, FREE), (20, USED)], [(40, USED)])

    assert segment_map(state, MapOptions(width=80, pins={1 << 40}))[1] == (
        "large  40.00 MiB      ########################################  full"
    )


@pytest.mark.parametrize(
    ("request_mib", "line", "bar"),
    [
        (20, "request 20.00 MiB     ", "^" * 20),
        (80, "request 80.00 MiB     ", "^" * 40),  # longer than any segment: it sets the scale
        (1000, "request 1000.00 MiB   ", "^" * 40),  # the longest label
        (1, "request 1.00 MiB      ", "^"),
    ],
)
def test_the_request_is_drawn_to_the_same_scale(request_mib: int, line: str, bar: str) -> None:
    options = MapOptions(width=80, request_bytes=request_mib * MIB)

    assert segment_map(state_of([(40, FREE)]), options)[-2] == line + bar


def test_segments_beyond_the_rows_are_summed_up() -> None:
    state = state_of(*([(4 - size, FREE), (1 + size, USED)] for size in range(4)), [(1, USED)])

    lines = segment_map(state, MapOptions(width=80, rows=2))

    assert lines[2:] == drawn("and 3 more segments: 11.00 MiB, of which 3.00 MiB free")


def test_full_segments_beyond_the_rows_are_said_to_be_full() -> None:
    state = state_of([(4, FREE)], [(3, USED)], [(2, USED)])

    lines = segment_map(state, MapOptions(width=80, rows=1))

    assert lines[1:] == drawn("and 2 more segments: 5.00 MiB, all full")


def test_segments_that_look_alike_are_drawn_once() -> None:
    state = state_of(*([(20, FREE), (20, USED)] for _ in range(12)), [(20, USED)], [(10, FREE)])

    assert segment_map(state, MapOptions(width=80, rows=3)) == drawn(
        "large  40.00 MiB x12  ....................####################  20.00 MiB free",
        "large  10.00 MiB      ..........  10.00 MiB free",
        "large  20.00 MiB      ####################  full",
    )


def test_one_segment_beyond_the_rows_is_in_the_singular() -> None:
    state = state_of([(4, FREE)], [(3, FREE)])

    assert segment_map(state, MapOptions(rows=1))[1] == "and 1 more segment: 3.00 MiB, of which 3.00 MiB free"


def test_a_segment_longer_than_a_line_goes_on_in_the_next() -> None:
    state = state_of([(50, USED), (50, FREE)])

    assert segment_map(state, MapOptions(width=80, bytes_per_column=MIB)) == drawn(
        "large  100.00 MiB     ########################################",
        "                      ##########..............................",
        "                      ....................  50.00 MiB free",
    )


def test_a_tiny_window_still_has_a_bar() -> None:
    line = segment_map(state_of([(8, USED), (8, FREE)]), MapOptions(width=14))[0]

    assert line == "large  16.00 MiB      ########........  8.00 MiB free"


def test_no_segments_no_map() -> None:
    assert segment_map(state_of()) == []


def test_a_terminal_that_draws_gets_other_marks() -> None:
    options = MapOptions(width=80, marks=DRAWN, request_bytes=10 * MIB, pins={1 << 40})

    assert segment_map(state_of([(10, USED), (30, FREE)]), options) == [
        "large  40.00 MiB      ▲█████████······························  30.00 MiB free",
        "request 10.00 MiB     ━━━━━━━━━━",
        "█ in use  · free  ▒ waiting for another stream  ▲ pins its segment",
    ]


def test_segments_of_other_streams_and_pools_than_the_requests_say_so() -> None:
    state = state_of([(40, FREE)], [(30, FREE)], [(20, FREE)], [(10, FREE)], owners=[(1, 0), (0, 1), (2, 1), (0, 0)])
    options = MapOptions(width=103, request_bytes=20 * MIB, own=(0, 0), pools=[(0, 0), (0, 7)])

    assert segment_map(state, options) == [
        "large  40.00 MiB      ........................................  40.00 MiB free, stream 1",
        "large  30.00 MiB      ..............................  30.00 MiB free, pool (0, 7)",
        "large  20.00 MiB      ....................  20.00 MiB free, stream 2, pool (0, 7)",
        "large  10.00 MiB      ..........  10.00 MiB free",
        "request 20.00 MiB     ^^^^^^^^^^^^^^^^^^^^",
        LEGEND,
        "a stream or pool is named where it is not the request's own, which cannot use what is free there",
    ]


def test_a_request_in_a_pool_of_its_own_sees_the_default_pool_as_anothers() -> None:
    options = MapOptions(width=94, request_bytes=20 * MIB, own=(0, 1), pools=[(0, 0), (0, 7)])

    lines = segment_map(state_of([(40, FREE)], owners=[(0, 0)]), options)

    assert lines[0] == "large  40.00 MiB      ........................................  40.00 MiB free, default pool"


def test_segments_that_differ_in_their_stream_alone_are_drawn_apart() -> None:
    lines = segment_map(state_of([(40, FREE)], [(40, FREE)], owners=[(0, 0), (3, 0)]), MapOptions(width=90))

    assert lines == [
        "large  40.00 MiB      ........................................  40.00 MiB free",
        "large  40.00 MiB      ........................................  40.00 MiB free, stream 3",
        LEGEND,
        "a stream or pool is named where it is not the default one; what is free serves only its own",
    ]


def test_where_all_is_one_streams_no_stream_is_named() -> None:
    state = state_of([(40, FREE)], owners=[(3, 1)])

    assert segment_map(state, MapOptions(width=80)) == drawn(
        "large  40.00 MiB      ........................................  40.00 MiB free"
    )
    assert segment_map(state, MapOptions(width=80, own=(3, 1)))[-1] == LEGEND
