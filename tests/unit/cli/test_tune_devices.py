"""`gapless tune` of a file with several devices: the worst one is tuned, and the best change tried on the others."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from gapless.cli.main import main
from gapless.units import MIB
from tests.programs import Program, user
from tests.schemas import validate


def in_pieces(*, asked: int = 105) -> Program:
    """Ten segments of 110 MiB in each of which 100 are free, so that 105 finds no hole where 1250 MiB are all."""
    program = Program(capacity_bytes=1250 * MIB)
    program.alloc("weights", 50 * MIB, at=user(9))
    for k in range(10):
        program.alloc(("whole", k), 110 * MIB, at=user(10))
    program.free(*(("whole", k) for k in range(10)))
    for k in range(10):
        program.alloc(("large", k), 100 * MIB, at=user(11))
        program.alloc(("small", k), 10 * MIB, at=user(12, "keep"))
    program.free(*(("large", k) for k in range(10)))
    program.alloc("more", asked * MIB, at=user(14))
    return program


def quiet(size: int) -> Program:
    """One block."""
    program = Program(capacity_bytes=4000 * MIB)
    program.alloc("all", size * MIB, at=user(20))
    program.free("all")
    return program


def written(path: Path, *programs: Program) -> str:
    """One file, a device for each."""
    values = [program.to_dict() for program in programs]
    for device, value in enumerate(values):
        for segment in value["segments"]:
            segment["device"] = device
    whole = {
        **values[0],
        "segments": [segment for value in values for segment in value["segments"]],
        "device_traces": [value["device_traces"][0] for value in values],
    }
    path.write_bytes(pickle.dumps(whole, protocol=4))
    return str(path)


def text_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["tune", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def json_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["tune", *arguments, "--format", "json"]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    validate(answer)
    return answer


def test_the_device_that_failed_is_tuned_and_its_change_suits_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "two.pickle", quiet(600), in_pieces())

    lines, answer = text_of(capsys, path), json_of(capsys, path)

    assert lines[0] == "Device 1"
    assert lines[1].startswith("export ")
    assert lines[-1] == "Device 0 (nothing failed): the same change works there too, with 600.00 MiB reserved at most."
    assert answer["input"]["device"] == 1
    assert answer["other_devices"] == [
        {"device": 0, "failed": False, "outcome": "serves_request", "reserved_bytes_peak_after": 600 * MIB}
    ]


def test_where_the_change_does_not_do_it_is_said_how_to_ask(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "three.pickle", in_pieces(), in_pieces(asked=1240), quiet(600))

    lines, answer = text_of(capsys, path), json_of(capsys, path)

    assert lines[0] == "Device 0"
    (said,) = (line for line in lines if line.startswith("Device 1 "))
    assert said == "Device 1 (failed as well): the same change does not work there; see gapless tune --device 1."
    assert [(one["device"], one["outcome"]) for one in answer["other_devices"]] == [
        (1, "fails"),
        (2, "serves_request"),
    ]


def test_devices_of_which_the_same_holds_share_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "many.pickle", quiet(500), quiet(600), quiet(400))

    lines = text_of(capsys, path, "--card", "1GiB")

    assert lines[:2] == [
        "Device 1",
        "On this card nothing needs changing: the recorded run fits with the settings as they are.",
    ]
    said = "Devices 0, 2 (nothing failed): no change is needed there either, with 500.00 MiB reserved at most."
    assert " ".join(lines).endswith(said)


def test_a_change_of_the_card_is_not_tried_on_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "two.pickle", quiet(600), quiet(500))

    lines, answer = text_of(capsys, path, "--card", "550MiB"), json_of(capsys, path, "--card", "550MiB")

    assert lines[-1] == "Device 1 (nothing failed): not tried with this; see gapless tune --device 1."
    assert answer["other_devices"][0]["outcome"] is None


def test_a_device_that_is_asked_for_is_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "two.pickle", quiet(600), in_pieces())

    lines, answer = text_of(capsys, path, "--device", "0"), json_of(capsys, path, "--device", "0")

    assert "Device" not in " ".join(lines)
    assert (answer["input"]["device"], answer["other_devices"]) == (0, [])
