"""GROW301 growth: memory in use rises with every step, from the same places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gapless.explain.frames import short_place
from gapless.explain.rule import Rule
from gapless.explain.words import percent, plural, the_request
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Finding, Severity
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
    " of four steps and hardly ever fall. It is the error when the failed request would have been served without what"
    " grew, and was made by that loop.",
    do="Look at the place: keep loss.item() or loss.detach() instead of loss, move kept outputs to the CPU, bound the"
    " cache. A larger card or other settings only delay the failure.",
    links=("https://docs.pytorch.org/docs/stable/notes/faq.html",),
)
_SHOWN = 3


def find(case: Case) -> Iterator[Finding]:
    """An error when growth is why a request failed; else a warning."""
    growth = case.growth
    if not growth:
        return
    steps = max(one.steps for one in growth)
    per_step, total = sum(one.bytes_per_step for one in growth), sum(one.bytes_total for one in growth)
    severity, request = _severity(case, total)
    top = growth[0]
    others = f" and {plural(len(growth) - 1, 'other place')}" if len(growth) > 1 else ""
    yield RULE.finding(
        f"{request}Memory in use grows by {format_bytes(per_step)} a step, allocated at {short_place(top.at)}{others}.",
        severity=severity,
        why=f"Over {plural(steps, 'step')} that is {format_bytes(total)},"
        f" {percent(min(total / max(case.facts.active_bytes, 1), 1.0))} of what is in use: it is kept and never freed.",
        what_to_do=f"Find what keeps the tensors of {short_place(top.at)} alive (a list of losses or outputs, a cache)"
        " and keep numbers or detached copies instead. A larger card or other settings only delay the failure.",
        bytes=total,
        confidence="certain" if case.steps and case.steps.is_training else "likely",
        measurements={
            "bytes_per_step": per_step,
            "steps": steps,
            "bytes_total": total,
            "places": len(growth),
            "active_bytes": case.facts.active_bytes,
        },
        places=tuple(one.place for one in growth[:_SHOWN]),
    )


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


def _severity(case: Case, grown: int) -> tuple[Severity, str]:
    """How bad it is, and how the message begins."""
    refusal = case.refusal
    if refusal is None or not refusal.is_full or not _is_of_the_loop(case, refusal):
        return "warning", ""
    if not refusal.would_fit(max(refusal.active_bytes - grown, 0), refusal.limit_bytes_least):
        return "warning", ""
    used = f"{percent(refusal.in_use_share)} of the memory in use"
    return "error", f"{the_request(case, refusal)} failed with {used}. "
