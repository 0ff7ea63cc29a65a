"""Causes where memory was full: the card, the process's limit, or what others hold. No allocator setting helps."""

from __future__ import annotations

from gapless.explain.finding import Confidence, Finding
from gapless.explain.log.advice import GAINS_LITTLE, NO_SETTING, SMALLER, Surroundings
from gapless.explain.log.codes import finding
from gapless.explain.log.measurements import measurements_of
from gapless.explain.log.numbers import Numbers
from gapless.explain.words import percent
from gapless.sources.log.amount import Amount
from gapless.units import GIB, format_bytes

ORDINARY_OUTSIDE_BYTES = 2 * GIB
"""More than a CUDA context, NCCL and libraries of one process take; below it nobody else need be at fault."""
_NOTABLE_SHARE = 0.05
_MOSTLY_SHARE = 0.75
"""Above it the memory in use is the point, below it the size of the request."""


def larger_than_card(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """OOM102: no state of the card would hold the request."""
    capacity, request = numbers.message.capacity, numbers.request
    if capacity is None or request is None:
        return None
    allowed = numbers.message.allowed
    over_limit = allowed is not None and not numbers.card_could_serve and numbers.need_least > allowed.high
    if numbers.need_least <= capacity.high and not over_limit:
        return None
    limit, name = (allowed, "memory limit of the process") if over_limit and allowed else (capacity, "card")
    return finding(
        "OOM102",
        f"The request for {size(request)} is larger than the {name}, which has {size(limit)}.",
        why=f"Even an empty {name} would not hold it.",
        what_to_do=f"{NO_SETTING}to make that one allocation smaller (a smaller batch, shorter sequences, computed in"
        f" pieces), or shard it over cards.{surroundings.void_hint(numbers.message)}",
        bytes=(request - limit).value,
        measurements=measurements_of(numbers),
    )


def by_limit(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """OOM103: the process's memory limit refused although the card had room."""
    allowed = numbers.message.allowed
    if allowed is None or not numbers.limit_may_have_refused:
        return None
    confidence: Confidence = "certain" if numbers.lacks == "certain" and numbers.limit_refused else "likely"
    request, free, reserved = size(numbers.request), size(numbers.free), size(numbers.reserved)
    return finding(
        "OOM103",
        f"The request for {request} was refused by a memory limit of the process, not by the card: {size(allowed)}"
        f" allowed, while the card had {free} free.",
        severity="error" if numbers.is_full else "warning",
        why=f"{reserved} of the {size(allowed)} were reserved and {size(numbers.in_use)} in use.",
        what_to_do="Raise or remove the limit: torch.cuda.set_per_process_memory_fraction, or"
        f" per_process_memory_fraction in the settings.{surroundings.void_hint(numbers.message)}",
        bytes=value(numbers.free),
        measurements=measurements_of(numbers),
        confidence=confidence,
    )


def outside(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """OUT501: others hold what is missing."""
    held, missing, named = numbers.outside, numbers.missing, numbers.others
    if held is None or missing is None or not numbers.is_full or numbers.limit_may_have_refused:
        return None
    capacity = numbers.message.capacity
    is_named = named is not None and capacity is not None and named.low >= _NOTABLE_SHARE * capacity.high
    decisive = named if is_named and named is not None else held
    if not is_named and held.low < ORDINARY_OUTSIDE_BYTES:
        return None
    if not decisive.surely_at_least(missing):
        return None
    return finding(
        "OUT501",
        f"The request for {size(numbers.request)} failed because {size(held)} of the card are held outside PyTorch:"
        " neither free nor in its cache.",
        why=f"PyTorch held {size(numbers.reserved)} of {size(capacity)}, {size(numbers.free)} were free."
        f" {whose(numbers)}",
        what_to_do="Look with nvidia-smi who else is on the card, end it or move one of the jobs, or make this job"
        f" small enough for what is left.{surroundings.void_hint(numbers.message)}",
        bytes=held.value,
        measurements=measurements_of(numbers),
        confidence="certain" if numbers.lacks == "certain" else "likely",
    )


def capacity(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """OOM101: the memory is in use."""
    if not numbers.is_full or numbers.in_use is None or numbers.limit is None:
        return None
    return finding(
        "OOM101",
        _what_is_full(numbers),
        why=_why_full(numbers),
        what_to_do=f"{NO_SETTING if numbers.lacks else GAINS_LITTLE}"
        f"{SMALLER}.{surroundings.void_hint(numbers.message)}",
        bytes=value(numbers.missing),
        measurements=measurements_of(numbers),
        confidence="certain" if numbers.lacks == "certain" and not numbers.contradiction else "likely",
    )


def _what_is_full(numbers: Numbers) -> str:
    share, request = numbers.in_use_share or 0.0, size(numbers.request)
    if share < _MOSTLY_SHARE:
        return (
            f"The request for {request} does not fit beside the {size(numbers.in_use)} in use: PyTorch could have"
            f" {size(numbers.limit)} in all."
        )
    of = f"the {size(numbers.limit)} that PyTorch could have ({percent(share)})"
    if numbers.contradiction:
        of = f"a card with {size(numbers.message.capacity)}"
    return f"The request for {request} failed because the memory is in use: {size(numbers.in_use)} of {of}."


def _why_full(numbers: Numbers) -> str:
    parts = (
        f"{size(numbers.room)} left {numbers.room_in_words} and {size(numbers.unallocated)} reserved but unallocated"
    )
    if numbers.contradiction:
        return f"{numbers.contradiction}. {parts} are what the message calls free."
    if numbers.lacks == "certain":
        return f"{parts} are less than was asked for, however they are put together."
    if numbers.lacks == "likely":
        return f"{parts} are, but for the rounding of the printed numbers, less than was asked for."
    gain = numbers.free_in_sum.value if numbers.free_in_sum else 0
    return f"{parts}: enough in sum for this request, but perfect packing would gain {format_bytes(gain)} at most."


def aside(numbers: Numbers) -> Finding | None:
    """OUT501 as information: a notable part of the card is neither free nor PyTorch's."""
    held, card = numbers.outside, numbers.message.capacity
    if held is None or card is None or held.low < _NOTABLE_SHARE * card.high:
        return None
    return finding(
        "OUT501",
        f"{size(held)} of the card are neither free nor PyTorch's.",
        severity="info",
        why=whose(numbers),
        bytes=held.value,
        measurements={"outside_bytes": held.value},
    )


def whose(numbers: Numbers) -> str:
    """A sentence about what is outside PyTorch."""
    own, others = numbers.own_outside, numbers.others
    if own is None:
        return "The message does not say whose it is: other processes, the CUDA context and libraries of this one."
    listed = ", ".join(
        f"process {pid}: {size(amount)}" for pid, amount in numbers.message.processes if numbers.message.this_process
    )
    rest = f"; other processes {size(others)}" if others is not None else ""
    return f"Of this process (CUDA context, NCCL, libraries) {size(own)}{rest}{f' ({listed})' if listed else ''}."


def size(amount: Amount | None) -> str:
    """An amount for people, in the form in which PyTorch printed it."""
    return "an unknown amount" if amount is None else format_bytes(amount.value)


def value(amount: Amount | None) -> int | None:
    """An amount as a number."""
    return None if amount is None else amount.value
