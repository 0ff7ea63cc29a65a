"""Whole texts of `gapless explain` and of the demo, kept as files so that a change of any word is seen and looked at.

make golden        writes today's texts into the files; `git diff` then shows what changed
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.run import gapless, run
from tests.recordings import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parent / "expected"
VERDICTS = ROOT / "tests" / "fixtures" / "verdicts"
WINDOW_COLUMNS = "100"
RECORDINGS = (
    "conf611_hit_split_limit_with_expandable_segments",
    "frag201_hit_prefixes_of_served_texts",
    "grow301_hit_losses_kept_with_their_graphs",
    "ok000_hit_ordinary_training",
    "oom101_hit_batch_too_large",
    "oom103_hit_fraction_set_by_the_program",
    "rec701_hit_recording_after_the_model",
)


def explained(recording: str) -> str:
    """What the program says of a recording today."""
    done = gapless("explain", VERDICTS / f"{recording}.pickle.gz", COLUMNS=WINDOW_COLUMNS)
    if done.returncode or done.stderr:
        raise AssertionError(f"{recording}: status {done.returncode}: {done.stderr}")
    return done.stdout


def demo() -> str:
    """What `make demo` shows today."""
    done = run([sys.executable, ROOT / "examples" / "demo.py"], COLUMNS=WINDOW_COLUMNS)
    if done.returncode or done.stderr:
        raise AssertionError(f"the demo: status {done.returncode}: {done.stderr}")
    return done.stdout


TEXTS: dict[str, Callable[[], str]] = {"demo": demo, **{name: partial(explained, name) for name in RECORDINGS}}
"""By the name of the file that keeps it."""


def file_of(name: str) -> Path:
    """Where a text is kept."""
    return FOLDER / f"{name}.txt"


def main() -> None:
    """Writes all of them."""
    for name, text in TEXTS.items():
        file_of(name).write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
