"""Numbers and places in the words of messages, the same in every rule."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gapless.explain.frames import Origin, origin_of, short_place
from gapless.units import format_bytes

if TYPE_CHECKING:
    from gapless.explain.case import Case
    from gapless.explain.finding import Frame, Kind, Stack
    from gapless.explain.refusal import Refusal

KIND_WORDS: dict[Kind, str] = {
    "weights": "weights",
    "gradients": "gradients",
    "optimizer": "optimizer state",
    "activations": "activations",
    "temporary": "temporary memory",
    "unknown": "memory of unknown purpose",
}


def percent(share: float) -> str:
    """A share for people; never 100 % unless it is all.

    >>> percent(0.9996), percent(1.0), percent(0.123)
    ('99.9 %', '100 %', '12 %')
    """
    if 0.99 < share < 1:
        return f"{min(share * 100, 99.9):.1f} %"
    return f"{share * 100:.0f} %"


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "block"), plural(2000, "block")
    ('1 block', '2,000 blocks')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def alternative(text: str) -> str:
    """A sentence as the second of two ways; nothing stays nothing.

    >>> alternative("Lower the peak.")
    'Or lower the peak.'
    """
    return f"Or {text[0].lower()}{text[1:]}" if text else ""


def the_request(case: Case, refusal: Refusal) -> str:
    """The failed request as the subject of a sentence."""
    place = case.stacks.place(refusal.request.stack)
    where = f" at {short_place(place)}" if place else ""
    if place is None and case.phases.is_backward(refusal.request.event):
        where = " in the backward pass"
    return f"The request for {format_bytes(refusal.request.rounded_bytes)}{where}"


def request_places(case: Case, refusal: Refusal) -> tuple[Stack, ...]:
    """The stack of the failed request, if it was recorded."""
    stack = case.stacks.stack(refusal.request.stack)
    return (stack,) if stack else ()


def by_kind(case: Case) -> dict[Kind, int]:
    """Bytes in use of each kind, the largest first."""
    totals: dict[Kind, int] = {}
    for holder in case.holders:
        totals[holder.kind] = totals.get(holder.kind, 0) + holder.bytes
    return dict(sorted(totals.items(), key=lambda item: -item[1]))


def what_is_in_use(case: Case) -> str:
    """One sentence on the largest kinds, or on the largest place where kinds are not known; may be empty."""
    total = case.facts.active_bytes
    known = [(kind, size) for kind, size in by_kind(case).items() if size >= total / 20 and kind != "unknown"]
    if known and sum(size for _, size in known) >= total / 2:
        parts = [f"{KIND_WORDS[kind]} {format_bytes(size)}" for kind, size in known]
        return f"In use: {', '.join(parts)}."
    return _largest_places(case, total)


def _largest_places(case: Case, total: int) -> str:
    """One sentence on the place that holds most, and on what has none recorded where that is more."""
    places: Counter[Frame | None] = Counter()
    for holder in case.holders:
        places[holder.at] += holder.bytes
    stackless = places.pop(None, 0)
    if not places:
        return ""
    (top, size), *_ = places.most_common(1)
    at = f"was allocated at {short_place(top)}"
    if top is not None and origin_of(top[0]) is Origin.NATIVE:
        at = f"was allocated in {short_place(top)}, with no line of Python recorded"
    if size == total:
        return f"All that is in use {at}."
    if stackless > size:
        without = f"{format_bytes(stackless)} in use have no stack recorded"
        return f"{without}; the largest part with one, {format_bytes(size)}, {at}."
    return f"The largest part, {format_bytes(size)}, {at}."
