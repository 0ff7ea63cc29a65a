"""GROW301 growth: memory in use rises with every step, from the same places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless.cards import KNOWN_CARDS
from gapless.explain.frames import short_place
from gapless.explain.others_on_card import recorded_card_bytes_of
from gapless.explain.rule import Rule
from gapless.explain.words import percent, plural, the_request
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Confidence, Finding
    from gapless.explain.refusal import Refusal

RULE = Rule(
    code="GROW301",
    name="growth",
    severity="warning",
    finds="The bytes in use at the beginning of each step rise from step to step, and they come from the same places.",
    why="Something is kept that was meant to go: losses appended with their graph, outputs of every evaluation, a cache"
    " without a bound. No card is large enough; the failure only comes later.",
    measured="Steps are told apart by the stacks that come again (the optimizer's, the model's call, or a loop's). At"
    " each beginning of a step the bytes in use are added up by place; a place grows when they rise in at least three"
    " of four steps, hardly ever fall, and what the first half of the steps made is still there: larger batches are"
    " not growth, nor is a loop that only loads. It is the error when the failed request was made by that loop and"
    " would have been served without what grew, or, in a loop of training, when most of the memory in use grew; so it"
    " is where a library failed (--log) and neither the cache nor others hold what it lacked. Where"
    " nothing failed it is the error when a loop of training grew over at least 8 steps and at that rate fills the"
    " card (the largest one known, if none is named) within 10,000 steps.",
    do="Look at the place: keep loss.item() or loss.detach() instead of loss, move kept outputs to the CPU, bound the"
    " cache. A larger card or other settings only delay the failure.",
    links=("https://docs.pytorch.org/docs/stable/notes/faq.html",),
)
_SHOWN = 3
_LARGEST = max((known.card for known in KNOWN_CARDS), key=lambda card: card.capacity_bytes)
_LEAST_STEPS = 8
"""Over which growth was measured, for a failure to be foretold; fewer may be a queue that fills up."""
_MOST_STEPS = 10_000
"""Within which it would fail; a run of training is seldom shorter."""
_MOSTLY = 0.5
"""Of the memory in use: when so much grew, holes are not why it failed."""


def find(case: Case) -> Iterator[Finding]:
    """An error when growth is why a request failed, or will be; else a warning."""
    growth = case.growth
    if not growth:
        return
    steps = max(one.steps for one in growth)
    per_step, total = sum(one.bytes_per_step for one in growth), sum(one.bytes_total for one in growth)
    left = _steps_left(case, per_step) if steps >= _LEAST_STEPS else None
    top = growth[0]
    others = f" and {plural(len(growth) - 1, 'other place')}" if len(growth) > 1 else ""
    is_cause = _is_why_it_failed(case, total)
    cure = (
        f"Find what keeps the tensors of {short_place(top.at)} alive (a list of losses or outputs, a cache) and keep"
        " numbers or detached copies on the CPU instead."
    )
    yield RULE.finding(
        f"{_begin(case, is_cause, left)}Memory in use grows by {format_bytes(per_step)} a step, allocated at"
        f" {short_place(top.at)}{others}.",
        severity="error" if is_cause or left is not None else "warning",
        why=f"Over {plural(steps, 'step')} that is {format_bytes(total)},"
        f" {percent(min(total / max(case.facts.active_bytes, 1), 1.0))} of what is in use: it is kept and not freed."
        f"{_outlook(case, left)}",
        what_to_do=f"{cure} A larger card or other settings only delay the failure.",
        besides=cure,
        bytes=total,
        confidence=_confidence(case, is_cause),
        measurements={
            "bytes_per_step": per_step,
            "steps": steps,
            "bytes_total": total,
            "places": len(growth),
            "active_bytes": case.facts.active_bytes,
            "steps_left": left,
        },
        places=tuple(one.place for one in growth[:_SHOWN]),
    )


def _confidence(case: Case, is_cause: bool) -> Confidence:
    if case.refusal is None:
        return "likely" if case.options.outside_is_sure else "unsure"
    return "certain" if is_cause and case.steps and case.steps.is_training else "likely"


def _is_why_it_failed(case: Case, grown: int) -> bool:
    refusal = case.refusal
    if refusal is None:
        return case.beside is not None and case.beside.is_starved_by_growth
    if not _is_of_the_loop(case, refusal):
        return False
    if not refusal.is_full:  # enough in sum, in pieces
        return case.steps is not None and case.steps.is_training and grown >= _MOSTLY * refusal.active_bytes
    return refusal.would_fit(max(refusal.active_bytes - grown, 0), refusal.limit_bytes_least)


def _is_of_the_loop(case: Case, refusal: Refusal) -> bool:
    """Whether the failed request was made by the loop that grows; for a loop of training, wherever it was made.

    A program that fills memory in a loop and then asks for more, elsewhere, does not leak.
    """
    steps = case.steps
    if steps is None or steps.is_training:
        return steps is not None
    begin = int(steps.boundaries[steps.boundaries < refusal.request.event][-2:][0])
    events = case.recording.events
    return bool(np.isin(refusal.request.stack, events.stack[begin : refusal.request.event]))


def _steps_left(case: Case, per_step: int) -> int | None:
    """Steps until the card is full, where nothing failed and training goes on so; None when that is not to be said."""
    steps, options = case.steps, case.options
    if steps is None or not steps.is_training or len(case.recording.oom_events) or options.outside_failure:
        return None
    left = (_card_bytes(case) - int(case.recording.curves["active"].max())) // per_step
    return left if 0 <= left <= _MOST_STEPS else None


def _known_card_bytes(case: Case) -> int | None:
    """What PyTorch may reserve, as far as the reader or the recording says."""
    options = case.options
    return options.card_bytes or recorded_card_bytes_of(options) or case.facts.capacity_bytes


def _card_bytes(case: Case) -> int:
    """What PyTorch may reserve, as far as it is known; else of the largest card there is."""
    return _known_card_bytes(case) or _LARGEST.capacity_bytes


def _begin(case: Case, is_cause: bool, left: int | None) -> str:
    refusal = case.refusal
    if refusal is not None and is_cause:
        return f"{the_request(case, refusal)} failed with {percent(refusal.in_use_share)} of the memory in use. "
    if is_cause and case.beside is not None:
        in_use = format_bytes(case.beside.active_bytes)
        return f"{case.beside.who} did not get memory beside the {in_use} that PyTorch has in use. "
    return "Nothing failed yet. " if left is not None else ""


def _outlook(case: Case, left: int | None) -> str:
    if left is None:
        return ""
    full = f"the {format_bytes(_card_bytes(case))} that PyTorch can reserve"
    if _known_card_bytes(case) is None:
        full = f"even {full} on the largest card known here ({_LARGEST.name}; --card names yours)"
    after = plural(left, "more step")
    return f" At that rate {full} are full after {after}, unless something beyond these steps bounds it."
