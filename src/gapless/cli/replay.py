"""`gapless replay`: checks the model against a recording, and replays it under other settings or on another card."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.cli.common import (
    FORMATS,
    add_recording_options,
    card_of,
    open_options,
    recordings_of,
    replayable_settings_of,
)
from gapless.errors import InputError
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.conf import Settings
    from gapless.recording import Recording
    from gapless.replaying import ReplayOptions

_EXAMPLES = """examples:
  gapless replay snapshot.pickle                               does the model repeat it exactly?
  gapless replay snapshot.pickle --conf "expandable_segments:True" --card 24GiB
  gapless replay snapshot.pickle --at event:1200               what the memory looks like then
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command."""
    parser = subparsers.add_parser(
        "replay",
        help="repeat a recording, under its own or other settings",
        description="Repeats a recording and says how exactly, and what it takes under other settings or on a card.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="a snapshot: pickle, gzip or page of memory_viz")
    add_recording_options(parser, at="shows the replayed memory then")
    parser.add_argument("--conf", metavar="TEXT", help="settings to replay under (default: as recorded)")
    parser.add_argument("--keep-going", action="store_true", help="go on after a request that fails")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--redact", action="store_true", help="leave out paths")


def run(args: argparse.Namespace) -> int:
    """Prints the check and the replay of each device."""
    from gapless.cli.redacting import redactor_of  # noqa: PLC0415
    from gapless.recording.choosing import rest_of  # noqa: PLC0415
    from gapless.replaying import replay  # noqa: PLC0415  (so that --help needs no numpy)
    from gapless.report.devices import devices_to_json, rest_to_text  # noqa: PLC0415
    from gapless.report.progress import ProgressLine  # noqa: PLC0415
    from gapless.report.replay import to_json, to_text  # noqa: PLC0415
    from gapless.report.replayed_state import state_at  # noqa: PLC0415
    from gapless.report.terminal import Terminal  # noqa: PLC0415

    with ProgressLine(sys.stderr) as progress:
        recordings = recordings_of(args.file, open_options(args, progress))
        options = [_options(one, args) for one in recordings]
        replays = [(one, replay(one, its)) for one, its in zip(recordings, options, strict=True)]
        states = [state_at(one, done, args.at) if args.at is not None else None for one, done in replays]
    rest = rest_of(recordings, args.device)
    redactor = redactor_of(recordings) if args.redact else None
    if args.format == "json":
        values = [to_json(one, done, state) for (one, done), state in zip(replays, states, strict=True)]
        values = [redactor.json(value) for value in values] if redactor else values
        print(json.dumps(devices_to_json("gapless.replay.devices/1", values, rest)))
        return 0
    terminal = Terminal(sys.stdout, redactor)
    for number, ((one, done), state) in enumerate(zip(replays, states, strict=True)):
        if number:
            terminal.line()
        if len(replays) > 1:
            terminal.line(f"Device {one.device}")
        to_text(one, done, _under(options[number], args), terminal, state)
    rest_to_text(rest, terminal)
    return 0


def _options(recording: Recording, args: argparse.Namespace) -> ReplayOptions:
    """The card and the memory limit are those that `tune` replays on."""
    from gapless.explain import ExplainOptions  # noqa: PLC0415
    from gapless.explain.case import open_case  # noqa: PLC0415
    from gapless.replaying import ReplayOptions  # noqa: PLC0415
    from gapless.tune import TuneOptions  # noqa: PLC0415
    from gapless.tune.engine import case_of  # noqa: PLC0415

    card, options = card_of(args), ReplayOptions(limit_bytes=recording.limit_bytes)
    has_failed = len(recording.oom_events) > 0
    if recording.event_count and (card is not None or has_failed):
        explained = open_case(recording, ExplainOptions(at="oom" if has_failed else None))
        options = case_of(explained, TuneOptions(card=card)).options()
    if args.conf is None and card is None:  # nothing is asked that memory from before could lie in the way of
        options = replace(options, start_as_recorded=True)
    settings = recording.settings
    if args.conf is not None:
        settings = replayable_settings_of(args.conf, recording.release, "--conf")
        options = _with_fraction(recording, settings, options)
    return replace(options, settings=settings, stops_at_failure=not args.keep_going)


def _with_fraction(recording: Recording, settings: Settings, options: ReplayOptions) -> ReplayOptions:
    """Under the memory fraction of other settings, where that is not the one recorded."""
    from gapless.tune.limits import limit_of_fraction  # noqa: PLC0415

    fraction = settings.per_process_memory_fraction
    if fraction == recording.settings.per_process_memory_fraction:
        return options
    if fraction < 1 and options.total_bytes is None:
        raise InputError(
            "a memory fraction is of the card, and nothing in this recording shows how large that is",
            hint="say which card: --card h100-80g, or --card 24GiB",
            where="--conf",
        )
    limit = limit_of_fraction(fraction, options.total_bytes or 0, recording.release) if fraction < 1 else None
    return replace(options, limit_bytes=limit, limit_bytes_most=limit)


def _under(options: ReplayOptions, args: argparse.Namespace) -> str:
    from gapless.replaying import UNLIMITED_BYTES  # noqa: PLC0415

    settings = "under its own settings" if args.conf is None else f"under {args.conf or 'the default settings'}"
    size = format_bytes(options.capacity_bytes)
    if options.limit_bytes is not None:
        least, most = options.limit_bytes, options.limit_bytes_most or options.limit_bytes
        limit = (
            f"of {format_bytes(least)}" if least == most else f"between {format_bytes(least)} and {format_bytes(most)}"
        )
        settings += f" (a memory limit {limit})"
    if args.card is None and options.limit_bytes is not None and options.capacity_bytes != UNLIMITED_BYTES:
        return f"{settings}, on a card that had {size} for PyTorch when a request failed"
    if args.card is not None:
        return f"{settings}, with {size} for PyTorch"
    if options.capacity_bytes == UNLIMITED_BYTES:
        return f"{settings}, on a card without end"
    return f"{settings}, with the {size} that PyTorch could have when a request failed"
