"""The table of `gapless tune`: what is alike is folded, and a narrow window shows the change and its smallest card."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from gapless.cards import find_card
from gapless.recording import open_recordings
from gapless.report.folded import folded
from gapless.report.terminal import Terminal
from gapless.report.tune import to_text
from gapless.tune import TuneOptions, tune
from gapless.tune.tried import Tried
from tests.recordings import ROOT
from tests.unit.tune.made import pinned

VERDICTS = ROOT / "tests" / "fixtures" / "verdicts"


def text_of(recording: Path, columns: int, options: TuneOptions, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = io.StringIO()
    (opened,) = open_recordings(str(recording))
    to_text(tune(opened, options), Terminal(stream))
    return stream.getvalue().splitlines()


def named(one: Tried, change: str, margin: int = 7) -> Tried:
    return replace(one, fix=replace(one.fix, change=change, margin_bytes=margin))


def test_settings_that_differ_in_a_size_alone_are_one_line(tmp_path: Path) -> None:
    one = next(one for one in tune(pinned(tmp_path)).tried if one.fix.conf == "expandable_segments:True")
    sizes = [named(one, f"set max_split_size_mb:{size}") for size in (128, 25, 30)]
    other = named(one, "set max_split_size_mb:31", margin=6)

    found = folded([sizes[0], other, *sizes[1:], named(one, "set roundup_power2_divisions:4")])

    assert [words for _, words in found] == [
        "set max_split_size_mb:128 (or 25, 30)",
        "set max_split_size_mb:31",
        "set roundup_power2_divisions:4",
    ]
    assert found[0][0] is sizes[0]


def test_a_narrow_window_shows_change_and_card(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = text_of(VERDICTS / "frag201_hit_features_of_a_short_batch.pickle.gz", 80, TuneOptions(), monkeypatch)

    table = lines[lines.index("") + 1 :]
    assert table[0].split() == ["smallest", "card", "change", "outcome", "grade"]
    assert max(len(line) for line in lines) <= 80


def test_the_first_line_says_that_no_setting_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    small = TuneOptions(card=find_card("2GiB"))
    lines = text_of(VERDICTS / "frag201_hit_features_of_a_short_batch.pickle.gz", 110, small, monkeypatch)

    assert lines[0].startswith("On this card no setting that was tried helps")
