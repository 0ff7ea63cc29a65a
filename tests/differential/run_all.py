"""Compares our allocator with the real one: every release, every profile, many random programs.

    python -m tests.differential.run_all                                   all releases, all profiles, 50 seeds
    python -m tests.differential.run_all --releases 2.14.1 --profiles oom,edges --seeds 0:200 --calls 20000

Exit status 1 on any difference (the first of each row is shown), 2 where a library cannot be had. Builds what is not
built yet: the first time that downloads 10 GB, of which 60 MB stay; see build.py.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

from tests.differential import build, compare, model, oracle, scripts
from tests.differential.libraries import RELEASES, UnavailableError, minor_release

_SEEDS_PER_TASK = 10


@dataclass(frozen=True)
class Task:
    """Some seeds of one profile on one release."""

    version: str
    harness: Path
    profile: str
    seeds: range
    calls: int


@dataclass
class Tally:
    """What came out for one profile on one release."""

    scripts: int = 0
    lines: int = 0
    ooms: int = 0
    left_early: int = 0  # ended where PyTorch's own behaviour becomes undefined
    differences: list[tuple[int, str]] = field(default_factory=list)  # seed, text

    def add(self, other: Tally) -> None:
        """Add what another task of the same row found."""
        self.scripts += other.scripts
        self.lines += other.lines
        self.ooms += other.ooms
        self.left_early += other.left_early
        self.differences += other.differences


def compare_script(task: Task, seed: int, tally: Tally) -> None:
    """Run one program on both allocators and count the outcome."""
    release = minor_release(task.version)
    capacity = scripts.PROFILES[task.profile].capacity_bytes
    lines = scripts.script(task.profile, seed, release, task.calls)
    ours = model.run(lines, release, capacity)
    real = oracle.run(task.harness, ours.operations, capacity)
    difference = compare.first_difference(real, ours.lines)
    tally.scripts += 1
    tally.lines += len(ours.lines)
    tally.ooms += sum(line.startswith("oom ") for line in ours.lines)
    tally.left_early += ours.undefined
    if difference:
        tally.differences.append((seed, str(difference)))


def compare_seeds(task: Task) -> Tally:
    """Run a task's programs; the harness must be built."""
    tally = Tally()
    for seed in task.seeds:
        compare_script(task, seed, tally)
    return tally


def tasks(versions: Iterable[str], profiles: Iterable[str], seeds: range, calls: int) -> Iterator[Task]:
    """The work, in the order of the table; builds missing harnesses."""
    for version in versions:
        harness = build.harness(version)
        for profile in profiles:
            if scripts.PROFILES[profile].since <= minor_release(version):
                for start in range(seeds.start, seeds.stop, _SEEDS_PER_TASK):
                    part = range(start, min(start + _SEEDS_PER_TASK, seeds.stop))
                    yield Task(version, harness, profile, part, calls)


def main(arguments: list[str] | None = None) -> int:
    """Compare; print a row as soon as it is complete."""
    options = _options(arguments)
    began = time.monotonic()
    try:
        work = list(tasks(options.releases, options.profiles, options.seeds, options.calls))
    except UnavailableError as error:
        print(f"run_all: {error}", file=sys.stderr)
        return 2
    print("release  profile           scripts      lines     ooms  left early  different", flush=True)
    total = Tally()
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        outcomes = zip(work, pool.map(compare_seeds, work), strict=True)
        for (version, profile), parts in groupby(
            outcomes, key=lambda outcome: (outcome[0].version, outcome[0].profile)
        ):
            row = Tally()
            for _, part in parts:
                row.add(part)
            print(_shown(version, profile, row), flush=True)
            total.add(row)
    print(
        f"{total.scripts} scripts, {total.lines} lines, {total.ooms} of them out of memory, "
        f"{total.left_early} left early, {len(total.differences)} different, {time.monotonic() - began:.0f} s"
    )
    return 1 if total.differences else 0


def _shown(version: str, profile: str, row: Tally) -> str:
    counts = f"{row.scripts:7d} {row.lines:10d} {row.ooms:8d} {row.left_early:11d} {len(row.differences):10d}"
    first = "".join(f"\n  seed {seed}, {text}" for seed, text in row.differences[:1])
    return f"{version:8s} {profile:17s} {counts}{first}"


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=_words(RELEASES), default=list(RELEASES), metavar="LIST")
    parser.add_argument("--profiles", type=_words(scripts.PROFILES), default=list(scripts.PROFILES), metavar="LIST")
    parser.add_argument("--seeds", type=_range, default=range(50), metavar="FROM:TO")
    parser.add_argument("--calls", type=int, default=2000, help="operations in a script, at least (2000)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args(arguments)


def _words(known: Iterable[str]) -> Callable[[str], list[str]]:
    def split(text: str) -> list[str]:
        for word in text.split(","):
            if word not in known:
                raise argparse.ArgumentTypeError(f"{word} is none of {', '.join(known)}")
        return text.split(",")

    return split


def _range(text: str) -> range:
    start, _, stop = text.partition(":")
    return range(int(start), int(stop)) if stop else range(int(start), int(start) + 1)


if __name__ == "__main__":
    sys.exit(main())
