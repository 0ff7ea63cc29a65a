"""What `gapless explain` and the demo say, word for word; `make golden` writes it anew after a change that is meant."""

from __future__ import annotations

import pytest

from tests.golden.texts import FOLDER, TEXTS, file_of


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_is_the_one_that_was_looked_at(name: str) -> None:
    expected = file_of(name).read_text(encoding="utf-8").splitlines()

    assert TEXTS[name]().splitlines() == expected, "after a look, 'make golden' writes today's text"


def test_no_text_is_left_over() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(TEXTS)
