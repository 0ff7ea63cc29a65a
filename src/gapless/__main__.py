"""The program: `python -m gapless` is `gapless`. Nothing is imported before an interrupt can be answered."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> int:
    """Runs the command that is asked for; returns the exit status."""
    try:
        from gapless.cli.main import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
