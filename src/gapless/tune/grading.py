"""What a replay lets us say: the outcome, and how sure it is.

The rules are those of the design, and three more that keep them honest. A recording that ends at the failing request
cannot tell what comes next, so serving that request is `proved` only if the run had lived with as much memory before
and does not grow; otherwise it is `modelled`, with the bytes beyond all that was seen. What garbage collection gives
back hangs on what was not used for a while, so that it was enough for this request is `modelled` as well. And a program
that caught its failure went on without what it had asked for: it `survives` only if it asked for the same again and got
it. Where the run as it was gets over the critical moment too, on the card on which it failed, nothing is known of a
change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gapless.replaying import Replay, replay
from gapless.tune.fix import Grade, Kind, Outcome

if TYPE_CHECKING:
    from gapless._core import ReplayResult
    from gapless.tune.candidate import Candidate
    from gapless.tune.case import Case

SERVING = (Outcome.SURVIVES, Outcome.SERVES_REQUEST)


def outcome_of(case: Case, replayed: Replay) -> Outcome:
    """What becomes of the run; unknown where the orders of addresses disagree whether it fails."""
    found = {_outcome(case, result) for result in replayed.results}
    if len(found) == 1:
        return found.pop()
    if found & {Outcome.FAILS, Outcome.UNKNOWN}:
        return Outcome.UNKNOWN
    return max(found, key=lambda outcome: outcome.rank)


def _outcome(case: Case, result: ReplayResult) -> Outcome:
    if result.undefined:
        return Outcome.UNKNOWN
    if any(not failure.was_recorded or failure.event == case.event for failure in result.failures):
        return Outcome.FAILS
    if result.reached_event < case.recording.event_count:
        return Outcome.FAILS if result.failures else Outcome.UNKNOWN
    if case.failed and case.event not in result.served_failures:
        return Outcome.UNKNOWN
    goes_on = case.whole_steps_after >= 1 and (not case.failed or case.request_comes_again)
    return Outcome.SURVIVES if goes_on and not result.failures else Outcome.SERVES_REQUEST


def is_reached_unchanged(case: Case, candidate: Candidate) -> bool:
    """Whether the run as it was gets over the critical moment as well, on the card on which it failed: then the replay
    does not show what made it fail, and cannot tell what a change does about it.

    With a late start that hangs on how the memory from before it is imagined; a change may help with every block where
    it was.
    """
    if candidate.kind in (Kind.CARD, Kind.NONE) or not (case.failed and case.card_is_recorded):
        return False
    if outcome_of(case, case.before) in SERVING:
        return True
    is_imagined = case.start_bytes > 0 and not candidate.edits.requested and outcome_of(case, case.control) in SERVING
    return is_imagined and outcome_of(case, _left_as_recorded(case, candidate)) not in SERVING


def grade_of(case: Case, candidate: Candidate, outcome: Outcome) -> tuple[Grade, int]:
    """The grade, and the bytes that assumptions concern."""
    assumed = candidate.edited_bytes + case.start_bytes + _unknown_limit(case, candidate)
    if outcome is not Outcome.FAILS:
        assumed += max(case.demand_beyond_bytes, case.growth_bytes_per_step)
    if outcome is Outcome.SERVES_REQUEST and _collects(case, candidate):
        assumed += case.request_bytes
    if case.shrunk_bytes and outcome is Outcome.FAILS and not candidate.lifts_limit:
        return Grade.GUESS, assumed
    if outcome is Outcome.UNKNOWN or not _is_exact(case) or not _is_told_by_the_change(case, candidate, outcome):
        return Grade.GUESS, assumed
    return (Grade.MODELLED if assumed or not case.recording.trace.is_complete else Grade.PROVED), assumed


def _collects(case: Case, candidate: Candidate) -> bool:
    """Whether the change is garbage collection, and nothing that keeps memory in larger pieces."""
    before, after = case.recording.settings, candidate.settings or case.recording.settings
    collects = 0 < after.garbage_collection_threshold != before.garbage_collection_threshold
    pieces = ("expandable_segments", "max_split_size", "roundup_power2_divisions", "large_segment_size")
    return collects and all(getattr(after, name) == getattr(before, name) for name in pieces)


def _unknown_limit(case: Case, candidate: Candidate) -> int:
    """What is not known of a memory fraction that stays in force."""
    if case.limit is None or candidate.lifts_limit or candidate.fraction is not None:
        return 0
    return case.limit.slack_bytes


def _is_exact(case: Case) -> bool:
    """The model repeats the recording, every event of it."""
    check = case.recording.check
    exact = check is not None and check.exact and check.events_checked > 0
    return exact and case.recording.trace.contradiction_count == 0 and case.recording.program.skipped_events == 0


def _is_told_by_the_change(case: Case, candidate: Candidate, outcome: Outcome) -> bool:
    """Whether it is the change that helps, and not how the memory from before a late start is imagined.

    Imagined anew, the failure has to come without the change; or the change has to help with every block left where it
    was, too.
    """
    if outcome is Outcome.FAILS or case.repeats_itself:
        return True
    if not case.start_bytes or candidate.edits.requested:
        return False
    return outcome_of(case, _left_as_recorded(case, candidate)) is outcome


def _left_as_recorded(case: Case, candidate: Candidate) -> Replay:
    return replay(case.recording, replace(candidate.options(case), start_as_recorded=True))
