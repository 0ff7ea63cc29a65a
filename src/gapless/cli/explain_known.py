"""What the reader of `gapless explain` knows besides the recording: the card, room that others need, a log."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gapless.cards import Card
from gapless.cli.common import card_of, recorded_card_of
from gapless.cli.failures import say
from gapless.errors import InputError
from gapless.explain import ExplainOptions
from gapless.explain.case import open_case
from gapless.explain.others_on_card import CONTEXT_BYTES
from gapless.report.redact import Redactor
from gapless.sources.sniff import Kind, sniff
from gapless.units import format_bytes, parse_bytes

if TYPE_CHECKING:
    from gapless.explain import Explanation
    from gapless.explain.log import LogExplanation
    from gapless.explain.log.failed_library import FailedLibrary
    from gapless.report.progress import ProgressLine
    from gapless.sources.log import LogScan
    from gapless.tune import Fix


Answer = tuple["Explanation", list["Fix"]]
"""Of a device: what is wrong, and the changes that help, best first."""
RankAnswer = tuple["Explanation | LogExplanation", list["Fix"]]
"""The same of a rank, of which there may be but a log."""


@dataclass(frozen=True)
class Known:
    """The same, read."""

    card: Card | None
    """That the run shall fit on."""
    recorded_card: Card | None
    """That the run was recorded on, as the reader says."""
    logged_card: Card | None
    """The same, as PyTorch's messages in the log say; what a recording shows is more exact."""
    leave_free_bytes: int
    library: FailedLibrary | None
    at: str | None

    @property
    def options(self) -> ExplainOptions:
        """For the explanation."""
        library, recorded = self.library, self.recorded_card or self.logged_card
        return ExplainOptions(
            at=self.at,
            card_bytes=self.card.capacity_bytes if self.card else None,
            recorded_card_bytes=self.recorded_card.capacity_bytes if self.recorded_card else None,
            card_total_bytes=recorded.total_bytes if recorded else None,
            outside_failure=library.name if library else None,
            outside_request_bytes=library.request_bytes if library else None,
            outside_is_sure=library is None or library.is_sure,
            leave_free_bytes=self.leave_free_bytes,
        )

    def check(self, explained: list[Explanation]) -> None:
        """Complains where room for others is asked for and nothing tells how large the card is.

        Raises:
            InputError: So it is for all devices, or the card that the run was recorded on is too small for it.
        """
        for one in explained if self.recorded_card else ():
            peak_bytes = int(one.recording.curves["reserved"].max(initial=0))
            if self.recorded_card and peak_bytes > self.recorded_card.total_bytes:
                card, peak = format_bytes(self.recorded_card.total_bytes), format_bytes(peak_bytes)
                raise InputError(
                    f"the run reserved {peak} on device {one.recording.device}, more than a card of {card} has",
                    hint="name the card that it ran on; --card asks whether it would fit another",
                    where="--recorded-card",
                )
        known = (one.facts.capacity_bytes or one.case.options.card_total_bytes for one in explained)
        if self.leave_free_bytes and not any(known):
            raise InputError(
                "nothing failed in this recording, so it does not show how large the card is",
                hint="say which card: --card h100-80g, or --card 24GiB",
                where="--leave-free",
            )

    def answer(self, explanation: Explanation, progress: ProgressLine) -> Answer:
        """The explanation with advice that follows the replay, and the best changes.

        As it is, and none, when nothing failed, nothing can be replayed, or others hold the memory.
        """
        case, card, free = explanation.case, self.card, self.leave_free_bytes
        from gapless.tune import TuneOptions, advised, best_fixes  # noqa: PLC0415  (only failures are tuned)

        if case.recording.event_count == 0 or case.lacks_segments:
            return explanation, []
        if explanation.verdict.code == "OUT501":
            return explanation, []  # a replay does not know when the others came
        if card is None and case.facts.capacity_bytes == 0:
            return explanation, []  # a recording that says so is no measure of anything
        if not case.moment.is_failure:
            beside, card = case.beside, card or self.recorded_card or self.logged_card
            if beside is None or not beside.fits_beside or card is None or explanation.verdict.code != "OUT502":
                return explanation, []
            free = beside.wanted_bytes or 0
            beyond = case.recording.curves["reserved"] > card.capacity_bytes - free
            case = open_case(case.recording, replace(case.options, at=f"event:{int(beyond.argmax())}"))
        fixes = best_fixes(case, TuneOptions(card=card, leave_free_bytes=free, progress=progress))
        return advised(explanation, fixes), fixes


def known_of(args: argparse.Namespace, scan: LogScan | None = None, rank: int | None = None) -> Known:
    """What the command line says, and a log for a rank.

    Raises:
        InputError: A card or size is not understood.
    """
    card, recorded = card_of(args), recorded_card_of(args)
    free = parse_bytes(args.leave_free, "--leave-free") if args.leave_free is not None else 0
    if scan is None:
        return Known(card, recorded, None, free, None, args.at)
    from gapless.explain.log.failed_library import card_total_bytes, failed_library  # noqa: PLC0415  (few have a log)

    total = card_total_bytes(scan)
    logged = Card("the card that the log names", total - CONTEXT_BYTES, total) if total else None
    return Known(card, recorded, logged, free, failed_library(scan, rank), args.at)


def log_of(args: argparse.Namespace) -> LogScan | None:
    """The log that --log names.

    Raises:
        InputError: It is no log.
    """
    if args.log is None:
        return None
    if sniff(args.log) is not Kind.LOG:
        raise InputError(f"{args.log} is not a log", hint="give the text that the program printed", where="--log")
    from gapless.explain.log.failed_library import failed_library  # noqa: PLC0415  (few have a log)
    from gapless.sources.log import read_log  # noqa: PLC0415

    scan = read_log(args.log)
    if failed_library(scan) is None:
        name = Redactor([]).path(args.log) if args.redact else args.log
        say(f"gapless: {name} tells of no library beside PyTorch that ran out of memory")
    return scan
