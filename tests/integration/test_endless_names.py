"""Names of megabytes and stacks without end are cut in the middle wherever they would be printed."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from gapless._core import FRAMES_MOST, NAME_BYTES_MOST
from gapless.recording import open_recordings
from tests.integration.run import gapless
from tests.integration.small import snapshot

if TYPE_CHECKING:
    from pathlib import Path

NAME = "a" + "é" * 1_000_000 + "f" * 500_000
FILE = f"/home/ada/{NAME}/train.py"


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small recording with such names in every stack, and one stack that is very deep."""
    frame = {"filename": FILE, "line": 7, "name": NAME}
    value: dict[str, Any] = snapshot()
    for event in value["device_traces"][0]:
        event["frames"] = [frame]
    value["device_traces"][0][1]["frames"] = [{**frame, "filename": "a.py", "name": "f"}] * (FRAMES_MOST + 5)
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
    longest = max(len(word) for word in done.stdout.encode().decode("unicode-escape").split())
    assert longest <= NAME_BYTES_MOST + 20  # with its line, and what stands around it


def test_redaction_knows_the_short_ones(endless: Path) -> None:
    done = gapless("explain", endless, "--redact", "--format", "json")

    holders = json.loads(done.stdout)["holders"]
    assert {holder["at"]["file"].startswith("file-") for holder in holders} == {True}
    assert "ada" not in done.stdout


def test_a_stack_ends_somewhere(endless: Path) -> None:
    recording = open_recordings(str(endless))[0]

    assert len(recording.stack(int(recording.events.stack[1]))) == FRAMES_MOST


def test_both_ends_of_a_name_stay_and_characters_whole(endless: Path) -> None:
    recording = open_recordings(str(endless))[0]
    ((_, _, function),) = recording.stack(int(recording.events.stack[0]))

    assert function == "a" + "é" * 1023 + "..." + "f" * 2046
    assert len(function.encode()) == NAME_BYTES_MOST
