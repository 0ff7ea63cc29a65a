"""Runs scripts on the real allocator of one release."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run(harness: Path, lines: list[str], capacity_bytes: int) -> list[str]:
    """What the real allocator did, as harness.cpp prints it; a crash is a last line."""
    done = subprocess.run(
        [harness, str(capacity_bytes)], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False
    )
    printed = done.stdout.splitlines()
    if done.returncode:
        printed.append(f"error the harness ended with {done.returncode}: {done.stderr[-500:]}")
    return printed
