"""Files that hold more devices than anybody reads: few are opened and printed, the rest is counted."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from gapless.recording import OpenOptions, open_recordings
from gapless.recording.choosing import DEVICES_MAX
from tests.integration.run import gapless
from tests.integration.small import events, segments
from tests.schemas import validate

if TYPE_CHECKING:
    from pathlib import Path

MANY = 2_000
FAILED = (1_234, 1_900)
REST = MANY - DEVICES_MAX


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Devices of which two failed."""
    calm = events()[:-1]
    value: dict[str, Any] = {
        "segments": [row for device in range(MANY) for row in segments(device)],
        "device_traces": [events() if device in FAILED else calm for device in range(MANY)],
    }
    path = tmp_path_factory.mktemp("many") / "many.pickle"
    path.write_bytes(pickle.dumps(value, protocol=4))
    return path


def test_those_that_failed_are_opened_and_then_the_first_of_the_fullest(many: Path) -> None:
    found = [recording.device for recording in open_recordings(str(many), OpenOptions(devices_max=4))]

    assert found == [0, 1, *FAILED]


@pytest.mark.parametrize("command", [("explain", "--no-fixes"), ("replay",)])
def test_the_rest_is_summed_up(command: tuple[str, ...], many: Path) -> None:
    text = gapless(*command, many)
    value = json.loads(gapless(*command, many, "--format", "json").stdout)

    assert (text.returncode, text.stderr) == (0, "")
    titles = [line for line in text.stdout.splitlines() if line.startswith("Device ")]
    assert len(titles) == DEVICES_MAX
    assert {f"Device {device}" for device in FAILED} <= set(titles)
    assert text.stdout.splitlines()[-1] == f"and {REST:,} more devices, none failed; --device N asks for one"
    assert (len(value["devices"]), value["left_out"]) == (DEVICES_MAX, {"devices": REST, "failed": 0})
    validate(value)


def test_one_of_them_is_answered_for_alone(many: Path) -> None:
    done = gapless("explain", many, "--device", "1999", "--no-fixes")

    assert (done.returncode, "more devices" in done.stdout) == (0, False)


def test_tune_takes_the_first_that_failed_and_looks_at_a_few_others(many: Path) -> None:
    lines = gapless("tune", many, "--card", "24GiB").stdout.splitlines()

    assert lines[0] == f"Device {FAILED[0]}"
    assert lines[-1] == f"and {REST:,} more devices, none failed; --device N asks for one"
    assert any(line.startswith("Devices ") for line in lines)


def test_complaints_name_a_few_of_them(many: Path) -> None:
    missing = gapless("explain", many, "--device", "99999")

    named = "0, 1, 2, 3, 4, 5, 6, 7 and 1,992 more"
    assert missing.stderr == f"gapless: {many} has no device 99999; it has {named}\n"


def test_a_file_of_a_folder_of_ranks_has_them_too(many: Path) -> None:
    done = gapless("explain", many.parent, "--no-fixes")

    assert done.returncode == 0
    assert done.stderr == f"gapless: many.pickle: and {REST:,} more devices, none failed; --device N asks for one\n"
