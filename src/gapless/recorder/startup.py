"""What gapless_record.pth calls when Python starts and GAPLESS_RECORD is set: nothing is loaded before PyTorch is."""

from __future__ import annotations

import os
import sys

from gapless.import_hook import on_import

_begun: list[str] = []
"""The folder; Python may meet the .pth file in several places."""


def begin() -> None:
    """Record this process, if it comes to use a GPU."""
    try:
        # A program may go to another folder before it imports PyTorch.
        folder = os.path.abspath(os.environ["GAPLESS_RECORD"])
        if "torch" not in sys.modules and not _begun:
            _begun.append(folder)
            on_import("torch", lambda _: _record({**os.environ, "GAPLESS_RECORD": folder}))
    except Exception as error:
        print(f"gapless: nothing is recorded: {error}", file=sys.stderr)


def _record(environment: dict[str, str]) -> None:
    """PyTorch is imported."""
    try:
        from gapless.recorder.options import options_in  # noqa: PLC0415
        from gapless.recorder.recorder import Recorder  # noqa: PLC0415

        Recorder(options_in(environment)).begin()
    except Exception as error:
        print(f"gapless: nothing is recorded: {error}", file=sys.stderr)
