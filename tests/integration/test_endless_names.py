"""Names of megabytes and stacks without end are cut in the middle wherever they would be printed."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from gapless.recording import open_recordings
from gapless.recording.recording import FRAMES_MAX, NAME_CHARS_MAX, shortened
from tests.integration.run import gapless
from tests.integration.small import snapshot

if TYPE_CHECKING:
    from pathlib import Path

NAME = "f" * 2_000_000
FILE = f"/home/ada/{NAME}/train.py"


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small recording with such names in every stack, and one stack that is very deep."""
    frame = {"filename": FILE, "line": 7, "name": NAME}
    value: dict[str, Any] = snapshot()
    for event in value["device_traces"][0]:
        event["frames"] = [frame]
    value["device_traces"][0][1]["frames"] = [{**frame, "filename": "a.py", "name": "f"}] * (FRAMES_MAX + 5)
    for segment in value["segments"]:
        for block in segment["blocks"]:
            block["frames"] = [frame]
    path = tmp_path_factory.mktemp("endless") / "endless.pickle"
    path.write_bytes(pickle.dumps(value, protocol=4))
    return path


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_they_are_printed_short(form: str, endless: Path) -> None:
    done = gapless("explain", endless, "--format", form)

    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout) < 200_000
    assert "fff/train.py" in done.stdout
    assert (
        max(len(word) for word in done.stdout.split()) <= NAME_CHARS_MAX + 20
    )  # with its line, and what stands around it


def test_redaction_knows_the_short_ones(endless: Path) -> None:
    done = gapless("explain", endless, "--redact", "--format", "json")

    holders = json.loads(done.stdout)["holders"]
    assert {holder["at"]["file"].startswith("file-") for holder in holders} == {True}
    assert "ada" not in done.stdout


def test_a_stack_ends_somewhere(endless: Path) -> None:
    recording = open_recordings(str(endless))[0]

    assert len(recording.stack(int(recording.events.stack[1]))) == FRAMES_MAX


def test_both_ends_of_a_name_stay() -> None:
    name = "a" * 600 + "b" * 600

    assert (shortened(name[:NAME_CHARS_MAX]), shortened(name)) == (
        name[:NAME_CHARS_MAX],
        "a" * 499 + "..." + "b" * 498,
    )
