"""Compares our reading of settings strings with the real one: every release, random texts, several in a row.

    python -m tests.differential.settings                                  all releases, 2,000 requests each
    python -m tests.differential.settings --releases 2.14.1 --requests 20000 --seed 7

Exit status 1 on any difference, 2 where a library cannot be had. What PyTorch does with a list that is cut after a
value is undefined up to 2.6, and left out there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gapless.conf import OPTIONS, ParsedConf, Release, Settings, parse
from gapless.conf.options import NAMES, Kind, find
from gapless.units import MIB
from tests.differential import build
from tests.differential.libraries import RELEASES, UnavailableError

PROBE = Path(__file__).with_name("settings_probe.cpp")
_UNLIMITED = (1 << 64) - 1
_NUMBERS = ["0", "1", "2", "3", "4", "10", "11", "19", "20", "21", "40", "64", "128", "512", "65536", "+7", "-1", "-5"]
_NUMBERS += ["99999999999", "9" * 23, "3000000000", "18446744073709551615", "0" * 24 + "64", "0x20", "1e3", "12x", ""]
_FRACTIONS = ["0.5", "0.25", "0.9", "0", "1", "1.0", "-0.1", "1.5", "nan", "-nan", "inf", "0x1p-3", "0x", "1e-310"]
_FRACTIONS += ["1e-5", "x", ".5", "5.", ".", "1e400", "0.3.3", "1e", "1e+", "0x.8"]
_SIZES = [*(str(1 << power) for power in range(18)), ">", "3", "x", "-1", "0", "-9223372036854775808"]


class Texts:
    """Random settings strings of one release: mostly sound, some with every mistake that we could think of."""

    def __init__(self, seed: str, release: Release) -> None:
        self._random = random.Random(seed)
        self._keys = [name for name in NAMES if (option := find(name)) and option.since <= release]

    def request(self) -> list[str]:
        """One text, or a few that are given one after the other."""
        return [text for text in (self._text() for _ in range(self._random.choice([1, 1, 2, 3]))) if text]

    def _text(self) -> str:
        items = [self._item() for _ in range(self._random.choice([0, 1, 1, 2, 2, 3, 4, 5]))]
        text = self._mostly(",", [", ", ";", ",,", ":", " ", ",]"]).join(items)
        if text and self._chance(0.1):
            at = self._random.randrange(len(text))
            text = text[:at] + self._random.choice(" \t\n,:[]x\0\xe9") + text[at + self._random.randrange(2) :]
        return text

    def _item(self) -> str:
        key = self._random.choice(self._keys) if self._chance(0.97) else self._random.choice([*NAMES, "nonsense"])
        return key + self._mostly(":", ["", ",", "[", "::", ";"]) + self._value(key)

    def _value(self, key: str) -> str:
        option = find(key)
        kind = option.kind if option else None
        if self._chance(0.06):
            return self._random.choice(["True", "native", "[", "]", ":", ",", "10", "large_segment_size_mb"])
        if kind is Kind.DIVISIONS:
            return self._list() if self._chance(0.7) else self._random.choice(_NUMBERS)
        if kind is Kind.FRACTION:
            return self._mostly("0.5", _FRACTIONS, 0.6)
        if kind is Kind.BACKEND:
            return self._mostly("native", ["cudaMallocAsync", "x"])
        if kind is Kind.BOOL:
            return self._mostly(self._random.choice(["True", "False"]), ["true", "1", "", "yes", "[True]"])
        return self._mostly(self._random.choice(["32", "64", "100"]), _NUMBERS, 0.6)

    def _list(self) -> str:
        pairs = [
            self._random.choice(_SIZES)
            + self._mostly(":", list(",;]["), 0.95)
            + self._mostly(str(1 << self._random.randrange(6)), _NUMBERS, 0.7)
            for _ in range(self._random.randrange(5))
        ]
        return self._mostly("[", [""], 0.97) + self._mostly(",", [";"]).join(pairs) + self._mostly("]", [""], 0.93)

    def _mostly(self, usual: str, others: list[str], share: float = 0.9) -> str:
        return usual if self._chance(share) else self._random.choice(others)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share


def probe(program: Path, requests: list[list[str]]) -> list[dict[str, Any]]:
    """The real release's answers."""
    lines = [" ".join(text.encode().hex() for text in request) for request in requests]
    done = subprocess.run(
        [program],
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests), done.stderr[-1000:]
    return answers


def difference(request: list[str], answer: dict[str, Any], release: Release) -> str:
    """The first difference in one request; empty when there is none."""
    settings = Settings()
    steps = iter(answer["steps"][1:])
    for text in request:
        ours = parse(text, release, settings)
        settings = ours.settings
        if [problem.code for problem in ours.problems if not problem.torch_error]:
            return ""  # undefined from here on
        real = next(steps, None)
        if real is None:
            return f"{text!r}: the real one died"
        found = _step_difference(text, ours, real)
        if found:
            return found
    return ""


def _step_difference(text: str, ours: ParsedConf, real: dict[str, Any]) -> str:
    error = _plain(real["error"])
    words = ours.problems[0].torch_error if ours.problems else ""
    # PyTorch's own text ends at a NUL byte of the user's, and names both backends in newer releases.
    same = words == error or ("\0" in text and words.startswith(error)) or (error and error.startswith(f"{words}, "))
    if not same:
        return f"{text!r}: the real error is {error!r}, ours {words!r}"
    for name, value in _ours(ours.settings).items():
        if name in real["settings"] and real["settings"][name] != value:
            return f"{text!r}: {name} is {real['settings'][name]}, ours {value}"
    return ""


def _plain(error: str) -> str:
    """An error without the place in PyTorch's source, and with characters put together again."""
    whole = error.encode("latin1").decode(errors="replace")
    return re.sub(r"^.*please report a bug to PyTorch\. ", "", whole)


def _ours(settings: Settings) -> dict[str, Any]:
    """Our settings in the form in which the probe prints PyTorch's."""
    values: dict[str, Any] = {}
    for option in OPTIONS:
        value = getattr(settings, option.field)
        values[option.field] = _UNLIMITED if value is None else list(value) if isinstance(value, tuple) else value
    values["pinned_reserve_segment_size_mb"] = values.pop("pinned_reserve_segment_size") // MIB
    return values


def differences(version: str, requests: int, seed: int) -> Iterator[str]:
    """The differences of one release, one for each request that has any."""
    release = Release.parse(version)
    texts = Texts(f"{seed} {version}", release)
    asked = [texts.request() for _ in range(requests)]
    for request, answer in zip(asked, probe(build.program(version, PROBE), asked), strict=True):
        found = difference(request, answer, release)
        if found:
            yield found


def main() -> int:
    """Compare the releases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--releases", default=",".join(RELEASES))
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    count = 0
    for version in args.releases.split(","):
        try:
            found = list(differences(version, args.requests, args.seed))
        except UnavailableError as error:
            print(f"{version}: {error}", file=sys.stderr)
            return 2
        count += len(found)
        print(f"{version}: {args.requests:,} requests, {len(found)} differences", *found[:3], sep="\n  ", flush=True)
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
