"""`gapless replay`: checks the model against a recording, and replays it under other settings or on another card."""

from __future__ import annotations

import argparse
import json
import sys
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
    from gapless.recording.choosing import rest_of  # noqa: PLC0415
    from gapless.replaying import replay  # noqa: PLC0415  (so that --help needs no numpy)
    from gapless.report.devices import devices_to_json, rest_to_text  # noqa: PLC0415
    from gapless.report.progress import ProgressLine  # noqa: PLC0415
    from gapless.report.redact import Redactor  # noqa: PLC0415
    from gapless.report.replay import to_json, to_text  # noqa: PLC0415
    from gapless.report.replayed_state import state_at  # noqa: PLC0415
    from gapless.report.terminal import Terminal  # noqa: PLC0415

    with ProgressLine(sys.stderr) as progress:
        recordings = recordings_of(args.file, open_options(args, progress))
        options = [_options(one, args) for one in recordings]
        replays = [(one, replay(one, its)) for one, its in zip(recordings, options, strict=True)]
        states = [state_at(one, done, args.at) if args.at is not None else None for one, done in replays]
    rest = rest_of(recordings, args.device)
    redactor = Redactor([args.file] if args.redact else [])  # nothing else in the answer names a file
    if args.format == "json":
        values = [redactor.json(to_json(one, done, state)) for (one, done), state in zip(replays, states, strict=True)]
        print(json.dumps(devices_to_json("gapless.replay.devices/1", values, rest)))
        return 0
    terminal = Terminal(sys.stdout, redactor.text)
    for number, ((one, done), state) in enumerate(zip(replays, states, strict=True)):
        if number:
            terminal.line()
        if len(replays) > 1:
            terminal.line(f"Device {one.device}")
        to_text(one, done, _under(options[number], args), terminal, state)
    rest_to_text(rest, terminal)
    return 0


def _options(recording: Recording, args: argparse.Namespace) -> ReplayOptions:
    from gapless.replaying import UNLIMITED_BYTES, ReplayOptions  # noqa: PLC0415

    card = card_of(args)
    recorded_bytes = None if card else _recorded_capacity_bytes(recording)
    settings = recording.settings
    if args.conf is not None:
        settings = replayable_settings_of(args.conf, recording.release, "--conf")
    return ReplayOptions(
        settings=settings,
        capacity_bytes=card.capacity_bytes if card else recorded_bytes or UNLIMITED_BYTES,
        total_bytes=card.total_bytes if card else None,
        limit_bytes=_limit_bytes(recording, settings, args, card.total_bytes if card else recorded_bytes),
        stops_at_failure=not args.keep_going,
    )


def _limit_bytes(
    recording: Recording, settings: Settings, args: argparse.Namespace, total_bytes: int | None
) -> int | None:
    """What the memory fraction of the settings allows; without --card and --conf what was reserved says more."""
    from gapless.tune.limits import limit_in_settings  # noqa: PLC0415

    if settings.per_process_memory_fraction >= 1 or (args.conf is None and args.card is None):
        return recording.limit_bytes
    if total_bytes is None:
        raise InputError(
            "a memory fraction is of the card, and nothing in this recording shows how large that is",
            hint="say which card: --card h100-80g, or --card 24GiB",
            where="--conf",
        )
    return limit_in_settings(settings, total_bytes, recording.release)


def _recorded_capacity_bytes(recording: Recording) -> int | None:
    """What PyTorch could reserve when a request failed; None where none did."""
    from gapless.explain.moment import choose_moment, facts_at  # noqa: PLC0415
    from gapless.explain.options import ExplainOptions  # noqa: PLC0415
    from gapless.explain.refusal import refusal_at  # noqa: PLC0415

    if not len(recording.oom_events):
        return None
    options = ExplainOptions(at="oom")
    moment = choose_moment(recording, options)
    facts = facts_at(recording, moment, recording.state_before(moment.event), options)
    refusal = refusal_at(recording, moment.event, facts)
    return None if refusal is None else refusal.limit_bytes_most


def _under(options: ReplayOptions, args: argparse.Namespace) -> str:
    from gapless.replaying import UNLIMITED_BYTES  # noqa: PLC0415

    settings = "under its own settings" if args.conf is None else f"under {args.conf or 'the default settings'}"
    size = format_bytes(options.capacity_bytes)
    if options.limit_bytes is not None:
        settings += f" (a memory limit of {format_bytes(options.limit_bytes)})"
    if args.card is not None:
        return f"{settings}, with {size} for PyTorch"
    if options.capacity_bytes == UNLIMITED_BYTES:
        return f"{settings}, on a card without end"
    return f"{settings}, with the {size} that PyTorch could have when a request failed"
