"""What the marker says, and what of it is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gapless.errors import InputError
from gapless.pytest_plugin.marker import limits_of
from gapless.units import GIB, MIB


def item(*args: Any, **values: Any) -> Any:
    """A test that is marked so."""
    mark = SimpleNamespace(args=args, kwargs=values)
    return SimpleNamespace(nodeid="test_x.py::test_y", get_closest_marker=lambda _: mark)


def test_sizes_are_read() -> None:
    limits = limits_of(item(card="24GiB", max_reserved="20GiB", max_allocated="1.5GiB", repeats=4, max_growth="1MiB"))

    assert limits.card.capacity_bytes == 24 * GIB
    assert (limits.max_reserved_bytes, limits.max_allocated_bytes) == (20 * GIB, 1536 * MIB)
    assert (limits.repeats, limits.max_growth_bytes) == (4, MIB)


@pytest.mark.parametrize(
    ("marked", "complaint"),
    [
        (item(), "gpu_memory needs a card"),
        (item(card="h1000"), "no card is known as 'h1000'"),
        (item("24GiB"), "takes its values by name"),
        (item(card="24GiB", max_reserve="1GiB"), "does not know 'max_reserve'"),
        (item(card="24GiB", max_reserved="much"), "much"),
    ],
)
def test_what_means_nothing_is_refused(marked: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        limits_of(marked)
