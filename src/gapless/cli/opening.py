"""The options that every command about a recording shares, and opening what they name."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gapless.conf import Release
from gapless.recording import OpenOptions, open_recordings

if TYPE_CHECKING:
    from gapless.recording import Recording
    from gapless.recording.opening import Progress


def add_recording_options(parser: argparse.ArgumentParser) -> None:
    """--device, --torch, --conf, --at and --format."""
    parser.add_argument("--device", type=int, metavar="N", help="of several devices in the file, the one to look at")
    parser.add_argument("--torch", metavar="VERSION", help="the PyTorch that recorded it (default: found out)")
    parser.add_argument("--conf", metavar="TEXT", help="settings in force when it was recorded (default: as recorded)")
    parser.add_argument("--at", metavar="MOMENT", help="oom, oom:K, peak, end or event:N (default: oom, else peak)")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def open_chosen(path: str, args: argparse.Namespace, progress: Progress | None = None) -> list[Recording]:
    """The recordings that the options choose."""
    release = Release.parse(args.torch) if args.torch else None
    return open_recordings(path, OpenOptions(device=args.device, release=release, conf=args.conf, progress=progress))
