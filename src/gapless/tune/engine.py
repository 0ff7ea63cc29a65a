"""`tune`: from a recording to ranked fixes, each replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gapless.cards import Card
from gapless.errors import InputError
from gapless.explain.case import open_case
from gapless.explain.options import ExplainOptions
from gapless.tune.candidates import propose_all
from gapless.tune.case import Case, recorded_card
from gapless.tune.combinations import combine
from gapless.tune.fix import Kind
from gapless.tune.larger_card import larger_card
from gapless.tune.ranking import ranked
from gapless.tune.search import measure_cards, try_all, with_card, with_risks
from gapless.tune.shortlist import recommended, shortlist
from gapless.tune.sizes import decisive_sizes
from gapless.tune.tried import Tried
from gapless.tune.unchanged import unchanged, with_unchanged
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case as Explained
    from gapless.recording import Progress, Recording
    from gapless.tune.candidate import Candidate

_WITHOUT_COST = (Kind.NONE, Kind.SETTING, Kind.LIMIT)
_LEAST_EVENTS = 2
"""With fewer there is no history, only the moment of writing, unless that was a failure."""
_LEAST_CARDS, _REPLAYS_A_CARD, _EVENTS_FOR_CARDS = 4, 16, 10_000_000


@dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """What the user wants to know."""

    card: Card | None = None
    """None: the card that the recording shows."""
    leave_free_bytes: int = 0
    """Of the card, for others than PyTorch."""
    at: str | None = None
    """The critical moment, as in `ExplainOptions`."""
    finds_cards: bool = True
    """Look for margins and the smallest card of each candidate: most of the work."""
    progress: Progress | None = None


@dataclass(frozen=True)
class TuneResult:
    """The fixes of one recording, best first."""

    case: Case
    tried: tuple[Tried, ...]

    @property
    def needs_change(self) -> bool:
        """Some change does better on this card than none; else the run as it was comes first in `tried`."""
        return not (self.tried and self.tried[0].fix.kind is Kind.NONE)

    @property
    def best(self) -> Tried | None:
        """The one to recommend; None where nothing helps."""
        found = shortlist(self.case, self.tried)
        fix = recommended([one.fix for one in found])
        return next((one for one in found if one.fix is fix), None)


def tune(recording: Recording, options: TuneOptions | None = None) -> TuneResult:
    """Tries every change that the recording suggests.

    Raises:
        InputError: The recording has no history, or no such moment, or failed at another; or more memory shall stay
            free than there is.
    """
    chosen = options or TuneOptions()
    if recording.event_count < _LEAST_EVENTS and not len(recording.oom_events):
        held = "a single event" if recording.event_count else "no events"
        raise InputError(
            f"this recording holds {held}, so nothing can be replayed",
            hint="record with torch.cuda.memory._record_memory_history() on before the memory is allocated",
            where=recording.path,
        )
    explained = open_case(recording, ExplainOptions(at=chosen.at))
    if len(recording.oom_events) and not explained.moment.is_failure:
        raise InputError(
            f"a request failed in this recording, and --at {chosen.at} is another moment: what helps would not be seen",
            hint="leave --at out, or name the failure: --at oom, --at oom:0",
            where=recording.path,
        )
    return tune_case(case_of(explained, chosen), chosen)


def tune_case(case: Case, options: TuneOptions) -> TuneResult:
    """Tries every change that suggests itself for a case: single ones, then pairs of the best, then the card."""
    report = options.progress or (lambda step, done, total: None)

    def try_some(candidates: list[Candidate]) -> list[Tried]:
        report("trying settings", 0, len(candidates))
        return try_all(case, candidates, lambda done: report("trying settings", done, len(candidates)))

    tried = try_some(propose_all(case, decisive_sizes(case)))
    tried = ranked([*tried, *try_some(combine(case, tried))])
    tried.sort(key=lambda one: (one.outcome.rank, one.fix.kind not in _WITHOUT_COST))
    few = tried[: _affordable(case)]
    as_it_was = unchanged(case)
    if not options.finds_cards:
        found = ranked([*(with_risks(case, one) for one in few), *tried[len(few) :]])
        return TuneResult(case, tuple(with_unchanged(with_risks(case, as_it_was), found) if as_it_was else found))
    measured = measure_cards(case, few, lambda done: report("looking for the smallest cards", done, len(few)))
    found = [*(with_risks(case, one) for one in measured), *tried[len(few) :]]
    card = larger_card(case)
    if card is not None:
        (one,) = try_all(case, [card[0]])
        found.append(with_risks(case, with_card(case, one, card[1])))
    found = ranked(found)
    if as_it_was is not None:
        (as_it_was,) = measure_cards(case, [as_it_was])
        found = with_unchanged(with_risks(case, as_it_was), found)
    return TuneResult(case, tuple(found))


def _affordable(case: Case) -> int:
    """For how many candidates smallest card and risks are found: all of a short recording, the best of a long one."""
    orders = len(case.before.results)
    return max(_LEAST_CARDS, _EVENTS_FOR_CARDS // (_REPLAYS_A_CARD * orders * case.recording.event_count))


def case_of(explained: Explained, options: TuneOptions) -> Case:
    """What is tuned under the options.

    Raises:
        InputError: More memory shall stay free than the card has, or the recording says that it has none.
    """
    card = options.card or recorded_card(explained)
    if options.card is None:
        _check_that_a_card_is_known(explained, options)
    if options.card is None and card.capacity_bytes == 0:
        message = "the recording says that no memory could be had: nothing was reserved, and nothing was free"
        raise InputError(message, hint="name a card with --card", where=explained.recording.path)
    if options.leave_free_bytes >= card.capacity_bytes:
        free, size = format_bytes(options.leave_free_bytes), format_bytes(card.capacity_bytes)
        raise InputError(
            f"{free} cannot stay free on a card of {size}", hint="give less, or a larger --card", where="--leave-free"
        )
    return Case(explained, card, options.card is None, options.leave_free_bytes)


def _check_that_a_card_is_known(explained: Explained, options: TuneOptions) -> None:
    """What was reserved says nothing of the card where nothing failed: then no share of it can be reckoned with.

    Raises:
        InputError: A share is asked for, or in the recorded settings.
    """
    recording = explained.recording
    if explained.refusal is not None or recording.total_bytes:
        return
    hint, where = "say which card: --card h100-80g, or --card 24GiB", recording.path
    if options.leave_free_bytes:
        message = "nothing failed in this recording, so it does not show how large the card is"
        raise InputError(message, hint=hint, where="--leave-free")
    fraction = recording.settings.per_process_memory_fraction
    if fraction < 1:
        message = f"the recorded settings allow {fraction:g} of the card, and nothing shows how large that is"
        raise InputError(message, hint=hint, where=where)
