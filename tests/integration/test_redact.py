"""With --redact no path is told, and nothing else is changed, whatever files and functions are named."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.run import gapless
from tests.integration.small import snapshot

NASTY = "/home/bob b/secret [project]/fn.<locals>"


@pytest.mark.parametrize("name", ["oom", "FRAG201", "MiB", "in", "a", "event"])
def test_a_file_named_as_a_word_changes_nothing_but_its_path(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = snapshot()
    for event in value["device_traces"][0]:
        event["frames"] = []
    for segment in value["segments"]:
        for block in segment["blocks"]:
            block["frames"] = []
    (tmp_path / name).write_bytes(pickle.dumps(value))

    monkeypatch.chdir(tmp_path)

    plain, redacted = (
        json.loads(gapless("explain", name, *more, "--format", "json").stdout) for more in ([], ["--redact"])
    )

    assert redacted["input"].pop("path").startswith("file-")
    assert plain["input"].pop("path") == name
    assert redacted == plain


@pytest.mark.parametrize("command", ["explain", "tune", "replay"])
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_functions_and_settings_tell_no_path(tmp_path: Path, command: str, form: str) -> None:
    if form == "markdown" and command != "explain":
        return
    value = snapshot()
    for event in value["device_traces"][0]:
        event["frames"] = [{"filename": NASTY, "line": 3, "name": NASTY}]
    value["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"] = "/home/bob/secret:1"
    path = tmp_path / "recorded.pickle"
    path.write_bytes(pickle.dumps(value))

    done = gapless(command, path, "--redact", "--format", form)

    assert done.stdout
    assert not [word for word in ("bob", "secret", tmp_path.name) if word in done.stdout + done.stderr]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("arguments", [["nothere"], ["empty"], ["x", "hidden"]])
def test_an_error_tells_no_name(
    tmp_path: Path, arguments: list[str], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_bytes(b"")

    done = gapless("explain", *arguments, "--redact", "--format", form)

    assert done.returncode == 2
    assert "file-" in done.stderr
    assert not [name for name in ("nothere", "hidden", "empty is") if name in done.stdout + done.stderr]


def test_names_of_a_folder_are_left_out_and_words_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in", "file", "empty"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "recorded.pickle").write_bytes(pickle.dumps(snapshot()))

    done = gapless("explain", ".", "--redact")

    assert done.stderr.count(" is empty, neither a memory snapshot nor a log") == 3
    assert done.stdout.startswith("rank ")
    assert " in use " in done.stdout
    assert "recorded.pickle" not in done.stdout


def test_names_cannot_be_confirmed_by_guessing_the_path(tmp_path: Path) -> None:
    """Each run gives other names; in one answer a file has one, be it on stdout or on stderr."""
    for name in ("a.pickle", "b.pickle"):
        (tmp_path / name).write_bytes(pickle.dumps(snapshot()))
    (tmp_path / "empty").write_bytes(b"")

    runs = [gapless("explain", tmp_path, "--redact", "--format", "json") for _ in range(2)]

    first, second = (json.loads(done.stdout) for done in runs)
    names = [{rank["path"] for rank in one["ranks"]} for one in (first, second)]
    places = [{frame["file"] for frame in stacks(one)} for one in (first, second)]
    assert len(names[0]) == 2
    assert places[0]
    assert not names[0] & names[1]
    assert not places[0] & places[1]
    assert first["left_out"][0]["path"] in runs[0].stderr


def stacks(value: object) -> Iterator[dict[str, str]]:
    """Every frame within an answer."""
    if isinstance(value, dict):
        if "file" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from stacks(item)
