"""Runs scripts on the real allocator of one release."""

from __future__ import annotations

import subprocess
from pathlib import Path


def run(harness: Path, lines: list[str], capacity_bytes: int) -> list[str]:
    """What the real allocator did, as harness.cpp prints it; a crash is a last line."""
    # Nothing of the user's: not PYTORCH_CUDA_ALLOC_CONF, and no driver but the stand-in beside the harness.
    environment = {"LD_LIBRARY_PATH": str(harness.parent)}
    command = [str(harness), str(capacity_bytes)]
    program = "\n".join(lines) + "\n"
    done = subprocess.run(command, input=program, env=environment, capture_output=True, text=True, check=False)
    printed = done.stdout.splitlines()
    if done.returncode:
        printed.append(f"crashed: the harness ended with {done.returncode}: {done.stderr[-500:]}")
    return printed
