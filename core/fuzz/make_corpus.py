"""Writes the seeds of the snapshot fuzzer, core/fuzz/corpus/snapshot: `.venv/bin/python -m core.fuzz.make_corpus`."""

from __future__ import annotations

import pickle
from pathlib import Path

from tests.made_recordings import FORMS

FOLDER = Path(__file__).parent / "corpus" / "snapshot"
FORMS_OF_NOTE = {"long": 1 << 70, "bytes": b"abc", "floats": [0.5, -1e300], "negative": [-1, -300, -(1 << 40)]}


def main() -> None:
    """One file for each form of a recording and each protocol of pickle."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, form in FORMS.items():
        for protocol in range(6):
            (FOLDER / f"{name}.protocol{protocol}").write_bytes(pickle.dumps(form(), protocol))
    odd = {**FORMS["traces_only"](), **FORMS_OF_NOTE}
    (FOLDER / "odd_values").write_bytes(pickle.dumps(odd, 4))


if __name__ == "__main__":
    main()
