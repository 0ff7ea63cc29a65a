"""Messages of other wordings: requests beyond any card, rejections before the card was asked, cudaMallocAsync."""

from __future__ import annotations

from gapless.explain.finding import Finding
from gapless.explain.log.advice import NO_SETTING, SMALLER, Surroundings
from gapless.explain.log.codes import finding
from gapless.explain.log.full import size, value
from gapless.explain.log.measurements import measurements_of
from gapless.explain.log.numbers import Numbers
from gapless.explain.refusal import FULL_SHARE
from gapless.explain.words import percent
from gapless.units import MIB

CONTEXT_BYTES_LEAST = 100 * MIB
"""No CUDA context takes less; cudaMallocAsync's message does not say how much of the card is outside it."""


def too_large(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """OOM102: an exabyte was asked for."""
    if numbers.message.wording != "too_large":
        return None
    return finding(
        "OOM102",
        "More than an exabyte was asked for: no card holds that.",
        why="Such a size is mostly a mistake: a number of elements that overflowed, or was read from broken data.",
        what_to_do="Look at the shape that the failing line of the traceback computes.",
        measurements={"segment_bytes_low": 1 << 60},
    )


def preemptive(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """OOM103: throw_on_cudamalloc_oom rejected the request before the card was asked."""
    if numbers.message.wording != "preemptive":
        return None
    asked = f" for {size(numbers.request)}" if numbers.request else ""
    return finding(
        "OOM103",
        f"The request{asked} was rejected before the card was asked: it would have exceeded"
        " per_process_memory_fraction, and throw_on_cudamalloc_oom is on.",
        why="With that option PyTorch rejects without giving cached memory back first.",
        what_to_do="Raise per_process_memory_fraction in the settings, or turn throw_on_cudamalloc_oom off, after which"
        " cached memory is given back before a request fails.",
        bytes=value(numbers.request),
        measurements=measurements_of(numbers),
    )


def cuda_malloc_async(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """OOM102, OOM103, OOM101 or REC790 of the cudaMallocAsync backend, which prints no reserved bytes."""
    message, request = numbers.message, numbers.request
    if message.wording != "async":
        return None
    if request is None or message.allocated is None or message.capacity is None:
        return _async_without_numbers()
    together = message.allocated + request
    if message.allowed is not None and message.allowed.surely_below(together):
        return finding(
            "OOM103",
            f"{size(request)} more than the {size(message.allocated)} in use exceed the memory limit of the process,"
            f" {size(message.allowed)}.",
            why=f"The card had {size(message.free)} free.",
            what_to_do="Raise or remove the limit (torch.cuda.set_per_process_memory_fraction).",
            bytes=(together - message.allowed).value,
            measurements=measurements_of(numbers),
        )
    if message.capacity.surely_below(request):
        return finding(
            "OOM102",
            f"The request for {size(request)} is larger than the card, which has {size(message.capacity)}.",
            why="Even an empty card would not hold it.",
            what_to_do=f"{NO_SETTING}to make that one allocation smaller.",
            bytes=(request - message.capacity).value,
            measurements=measurements_of(numbers),
        )
    return _async_capacity(numbers)


def _async_without_numbers() -> Finding:
    return finding(
        "REC790",
        "cudaMallocAsync refused a request; this log does not show why.",
        why="The lines with its numbers are missing.",
        what_to_do="Look for the lines that begin with `Currently allocated`, or run with PyTorch's own allocator,"
        " which can be recorded.",
        confidence="unsure",
    )


def _async_capacity(numbers: Numbers) -> Finding:
    message = numbers.message
    request, allocated, card = numbers.request, message.allocated, message.capacity
    if request is None or allocated is None or card is None:
        raise AssertionError("the caller looked at these")
    lacks = card.surely_below(allocated + request)
    share = allocated.value / max(card.value - CONTEXT_BYTES_LEAST, 1)
    if lacks or share >= FULL_SHARE:
        return finding(
            "OOM101",
            f"The request for {size(request)} failed because the memory is in use: {size(allocated)} of the card's"
            f" {size(card)} ({percent(min(allocated.value / max(card.value, 1), 1.0))}).",
            why="In use and request together exceed the card."
            if lacks
            else "What is left is little more than a CUDA context takes.",
            what_to_do=f"{NO_SETTING}{SMALLER}.",
            bytes=max((allocated + request - card).value, 0),
            measurements=measurements_of(numbers),
            confidence="certain" if lacks else "likely",
        )
    return finding(
        "REC790",
        f"cudaMallocAsync refused {size(request)} with {size(allocated)} of the card's {size(card)} in use and"
        f" {size(message.free)} free; this log does not show why.",
        why="The rest is in the driver's own pool or with other processes, and that backend prints neither.",
        what_to_do="Look with nvidia-smi who else is on the card, or run with PyTorch's own allocator"
        " (backend:native), which can be recorded and replayed.",
        measurements=measurements_of(numbers),
        confidence="unsure",
    )
