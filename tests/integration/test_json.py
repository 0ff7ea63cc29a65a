"""What every command prints with `--format json` is as the schema says that it names; every name has its schema."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from tests.integration.run import gapless
from tests.integration.small import write
from tests.recordings import ROOT
from tests.schemas import file_of, schemas, validate

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = ROOT / "tests" / "fixtures"
PRINTED = re.compile(r"""["'](gapless\.[a-z.]+/\d+)["']""")
MESSAGE = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 24.00 GiB of"
    " which 1.44 GiB is free. Including non-PyTorch memory, this process has 22.56 GiB memory in use. Of the allocated"
    " memory 16.49 GiB is allocated by PyTorch, and 5.57 GiB is reserved by PyTorch but unallocated.\n"
)
STATE_LIST = FIXTURES / "writers" / "torch2.14_segment_list.pickle"


def answer(*arguments: str | Path, status: int = 0) -> Any:
    """The document that a command prints."""
    done = gapless(*arguments, "--format", "json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Path]:
    """Something of every kind that can be given."""
    ranks = tmp_path / "ranks"
    ranks.mkdir()
    for number in range(3):
        write(ranks / f"rank{number}.pickle")
    log, quiet = tmp_path / "run.log", tmp_path / "quiet.log"
    log.write_text(f"[rank1]: {MESSAGE}")
    quiet.write_text("step 1\n")
    small, two = write(tmp_path / "small.pickle"), write(tmp_path / "two.pickle", 2)
    return {"small": small, "two": two, "ranks": ranks, "log": log, "quiet": quiet, "state": STATE_LIST}


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        ("explain small", "gapless.explain/1"),
        ("explain small --redact --no-fixes --at peak", "gapless.explain/1"),
        ("explain state", "gapless.explain/1"),
        ("explain log", "gapless.explain/1"),
        ("explain quiet", "gapless.explain/1"),
        ("explain two", "gapless.explain.devices/1"),
        ("explain ranks", "gapless.explain.ranks/1"),
        ("explain ranks --at peak", "gapless.explain.ranks/1"),
        ("replay small", "gapless.replay/1"),
        ("replay small --conf expandable_segments:True --card 90MiB --at oom", "gapless.replay/1"),
        ("replay small --card 70MiB --keep-going --at end", "gapless.replay/1"),
        ("replay small --card 70MiB --at end", "gapless.replay/1"),
        ("replay state --at peak", "gapless.replay/1"),
        ("replay two --redact", "gapless.replay.devices/1"),
        ("tune small", "gapless.tune/1"),
        ("tune small --card 24GiB --leave-free 1GiB", "gapless.tune/1"),
        ("conf max_split_size_mb:10,expandable_segments:yes", "gapless.conf/1"),
        ("cards", "gapless.cards/1"),
        ("rule", "gapless.rules/1"),
        ("rule FRAG201", "gapless.rules/1"),
    ],
)
def test_answers_fit_their_schema(arguments: str, schema: str, inputs: dict[str, Path]) -> None:
    document = answer(*(inputs.get(word, word) for word in arguments.split()))

    assert document["schema"] == schema
    validate(document)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("explain", "usage"),
        ("explain missing", "input"),
        ("explain /bin/true", "format"),
        ("replay small --conf max_split_size_mb:1", "conf"),
        ("nonsense", "usage"),
        ("rule NONSENSE", "input"),
    ],
)
def test_failures_fit_theirs(arguments: str, code: str, inputs: dict[str, Path]) -> None:
    document = answer(*(inputs.get(word, word) for word in arguments.split()), status=2)

    validate(document)
    assert document["code"] == code


def test_every_schema_that_the_program_names_has_its_file_and_every_file_is_named() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py")]
    named = {file_of(name) for text in texts for name in PRINTED.findall(text)}

    assert "gapless.explain-1.schema.json" in named
    assert named == set(schemas())


def test_every_schema_is_one_and_bears_its_name() -> None:
    for name, schema in schemas().items():
        Draft202012Validator.check_schema(schema)
        assert (schema["$id"], file_of(schema["title"])) == (name, name)
        assert schema["additionalProperties"] is False


def test_a_document_that_differs_is_found(inputs: dict[str, Path]) -> None:
    document = answer("replay", inputs["small"])
    document["peak"]["reserved_bytes"] = -1

    with pytest.raises(ValidationError, match="-1 is less than the minimum of 0"):
        validate(document)
