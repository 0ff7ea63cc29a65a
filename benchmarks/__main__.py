"""Run the benchmarks and print one table: `python -m benchmarks [PART OF A NAME]...`.

Exit status 1 when a target is missed, 2 when a name fits no benchmark.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.result import Result, Unavailable

APART = {"__init__", "__main__", "result"}


def benchmarks_named(parts: Sequence[str]) -> list[str]:
    """Modules of this folder that have a main() and whose name contains one of the parts, or all without parts."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in APART)
    names = [name for name in names if not parts or any(part in name for part in parts)]
    return [name for name in names if hasattr(importlib.import_module(f"benchmarks.{name}"), "main")]


def run(name: str) -> list[Result]:
    """Results of one benchmark."""
    results = importlib.import_module(f"benchmarks.{name}").main()
    return list(results or [])


def table_of(results: Sequence[Result]) -> Table:
    """The results side by side."""
    table = Table(title=f"Gapless beside its peers ({machine()})", title_justify="left")
    for heading in ("work", "ours", "peer", "theirs", "ratio", "asked for", ""):
        table.add_column(heading, justify="left" if heading in {"work", "peer"} else "right")
    for result in results:
        has_peer = result.ratio is not None and result.theirs is not None
        table.add_row(
            result.work,
            f"{result.ours:.4g} {result.unit}",
            result.peer or "-",
            f"{result.theirs:.4g} {result.unit}" if has_peer else "-",
            f"{result.ratio:.1f} x" if has_peer else "-",
            f"{result.target:g} x" if has_peer else f"{result.target:g} {result.unit}",
            "reached" if result.reached else "MISSED",
        )
    return table


def machine() -> str:
    """Processor, cores and Python of this machine, in a few words."""
    processor = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), processor)
    except OSError:
        pass
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}"


def main(parts: Sequence[str]) -> int:
    """Run what is named, print the table."""
    names = benchmarks_named(parts)
    if not names:
        print(f"no benchmark is named like {' or '.join(parts) or 'anything'}", file=sys.stderr)
        return 2
    results: list[Result] = []
    for name in names:
        print(f"benchmarks/{name}.py", file=sys.stderr)
        try:
            results += run(name)
        except Unavailable as reason:
            print(f"  left out: {reason}", file=sys.stderr)
    Console(width=None if sys.stdout.isatty() else 140).print(table_of(results))
    return 0 if all(result.reached for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
