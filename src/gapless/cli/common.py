"""Options that several commands share, and what they mean."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from gapless.cli.failures import say
from gapless.conf import Release, Settings, parse
from gapless.errors import ConfError, InputError

if TYPE_CHECKING:
    from gapless.cards import Card
    from gapless.recording import OpenOptions, Recording
    from gapless.recording.opening import Progress

FORMATS = ("text", "json")
_ASSIGNMENT = re.compile(r"(?:export\s+)?(PYTORCH_(?:CUDA_|HIP_)?ALLOC_CONF)=(.*)", re.DOTALL)


def add_recording_options(
    parser: argparse.ArgumentParser,
    at: str = "default: the last failure, else the peak",
    device: str = "one device only (default: all)",
) -> None:
    """What the user knows better than the file; `at` says what --at is for where it is not given, `device` what
    --device does."""
    parser.add_argument("--device", type=int, metavar="N", help=device)
    parser.add_argument("--torch", metavar="VERSION", help="PyTorch's version (default: told by the file)")
    parser.add_argument("--card", metavar="CARD", help="a card's name (h100-80g) or what PyTorch may reserve (24GiB)")
    parser.add_argument("--at", metavar="MOMENT", help=f"oom, oom:K, peak, end or event:N ({at})")


def add_recorded_conf(parser: argparse.ArgumentParser) -> None:
    """The settings that were in force, where the file does not tell them."""
    text = "settings when it was recorded (default: told by the file)"
    parser.add_argument("--conf", metavar="TEXT", dest="recorded_conf", help=text)


def open_options(args: argparse.Namespace, progress: Progress | None = None) -> OpenOptions:
    """How the file is opened; what is assumed about the release is said on stderr."""
    from gapless.recording import OpenOptions  # noqa: PLC0415  (numpy is loaded only by commands that read)
    from gapless.recording.choosing import DEVICES_MAX  # noqa: PLC0415

    release = Release.parse(args.torch) if args.torch is not None else None
    if release is not None and release.note:
        say(f"gapless: {release.note}")
    conf = getattr(args, "recorded_conf", None)
    conf = None if conf is None else settings_text(conf)
    return OpenOptions(device=args.device, devices_max=DEVICES_MAX, release=release, conf=conf, progress=progress)


def card_of(args: argparse.Namespace) -> Card | None:
    """The card that --card names; None where it is not given."""
    from gapless.cards import find_card  # noqa: PLC0415

    return None if args.card is None else find_card(args.card)


def recorded_card_of(args: argparse.Namespace) -> Card | None:
    """The card that --recorded-card names; None where it is not given."""
    from gapless.cards import find_card  # noqa: PLC0415

    return None if args.recorded_card is None else find_card(args.recorded_card, "--recorded-card")


def settings_text(text: str) -> str:
    """Settings as they are given: the value alone, or the assignment as it stands in a script.

    >>> settings_text("export PYTORCH_CUDA_ALLOC_CONF=backend:native")
    'backend:native'
    """
    match = _ASSIGNMENT.fullmatch(text.strip())
    return match[2] if match else text


def settings_of(text: str, release: Release, option: str) -> Settings:
    """What settings mean to a release.

    Raises:
        ConfError: It refuses them.
    """
    parsed = parse(settings_text(text), release, at_load=True)
    if parsed.problems:
        problem = parsed.problems[0]
        raise ConfError(problem.message, hint=problem.hint, where=option)
    return parsed.settings


def replayable_settings_of(text: str, release: Release, option: str) -> Settings:
    """What settings mean to a release, of the allocator that is modelled.

    Raises:
        ConfError: The release refuses them, or they choose another allocator.
    """
    settings = settings_of(text, release, option)
    if settings.backend != "native":
        raise ConfError(
            f"backend:{settings.backend} is the driver's own allocator, which keeps no history and is not modelled",
            hint="leave backend out; what is replayed is PyTorch's own allocator (backend:native)",
            where=option,
        )
    return settings


def recordings_of(path: str, options: OpenOptions) -> list[Recording]:
    """Every device of a file that the options ask for; at least one.

    Raises:
        InputError: The file cannot be read, or no device in it has memory.
        ConfError: PyTorch refuses the settings, so they cannot have been in force.
    """
    from gapless.recording import open_recordings  # noqa: PLC0415

    found = open_recordings(path, options)
    if not found:
        raise InputError(
            "the file holds no device with memory: no segment and no event",
            hint="write it while the program holds memory on a GPU, with its history recorded",
            where=path,
        )
    for recording in found if options.conf is not None else ():
        replayable_settings_of(options.conf or "", recording.release, "--conf")
    return found
