"""Causes where enough was free in sum, in pieces or elsewhere. A log shows sums only and proves none."""

from __future__ import annotations

from gapless.explain.finding import Finding
from gapless.explain.log.advice import Surroundings
from gapless.explain.log.codes import finding
from gapless.explain.log.full import size, value
from gapless.explain.log.measurements import measurements_of
from gapless.explain.log.numbers import Numbers

_SHARE = "Sharing one pool between graphs, and dropping those that are done with, gives the pools' memory back."


def private_pool(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """FRAG203: only with what private pools keep would it be enough."""
    held, missing = numbers.message.private_pools, numbers.missing
    if held is None or missing is None or not numbers.lacks or held.value < missing.value:
        return None
    return finding(
        "FRAG203",
        f"The request for {size(numbers.request)} failed while {size(held)} were free in private pools (CUDA graphs,"
        " MemPools), which only they may use.",
        why=f"Outside them {size(numbers.unallocated)} were reserved but unallocated and {size(numbers.room)} left on"
        " the card: not enough. Whether one hole in the pools would hold the request, a log cannot show.",
        what_to_do="Share one pool between graphs, drop graphs that are done with, or capture the largest shape first."
        f" {surroundings.how_to_record()}",
        bytes=held.value,
        measurements=measurements_of(numbers),
        confidence="likely",
    )


def card_had_room(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """REC790: refused although the card reports more free than was asked for, and no limit is in force."""
    if numbers.message.allowed is not None or not numbers.card_could_serve:
        return None
    return finding(
        "REC790",
        f"The request for {size(numbers.request)} failed although the card reports {size(numbers.free)} free; this log"
        " does not show why.",
        why="The free bytes are read after the refusal. Another process may have given memory back in between, or the"
        " driver has a limit that PyTorch does not see (a container, MIG, integrated or shared memory, Windows).",
        what_to_do="Watch nvidia-smi while it fails, and try the allocation once more after the error."
        f" {surroundings.how_to_record()}",
        bytes=value(numbers.free),
        measurements=measurements_of(numbers),
        confidence="unsure",
    )


def pieces(numbers: Numbers, surroundings: Surroundings) -> Finding | None:
    """FRAG201: enough in sum, so it lay in pieces."""
    if numbers.free_in_sum is None or numbers.request is None or numbers.lacks or numbers.is_full:
        return None
    room = f" and {size(numbers.room)} left {numbers.room_in_words}" if numbers.room and numbers.room.value else ""
    return finding(
        "FRAG201",
        f"The request for {size(numbers.request)} failed although {size(numbers.unallocated)} were reserved but"
        f" unallocated{room}: enough in sum, so probably in pieces.",
        why=_why_in_pieces(numbers),
        what_to_do=" ".join(
            [
                surroundings.against_pieces(),
                *([_SHARE] if _has_pools(numbers) else []),
                surroundings.how_to_record(),
            ]
        ),
        bytes=value(numbers.unallocated),
        measurements=measurements_of(numbers),
        confidence="likely",
    )


def _has_pools(numbers: Numbers) -> bool:
    return numbers.private_free.value > 0


def _why_in_pieces(numbers: Numbers) -> str:
    """Why what is free could not serve; of pools in use PyTorch gives nothing back, and nobody else may use it."""
    if not _has_pools(numbers):
        return (
            "PyTorch had given back every segment that was wholly free, so the rest lies beside blocks in use. Which"
            " blocks those are, and how large the holes, a log cannot show."
        )
    return (
        f"{size(numbers.private_free)} more were free in private pools (CUDA graphs, MemPools), which only they may use"
        " and which are not given back while they are in use. Outside them the rest lies beside blocks in use; a"
        " request made inside a pool could not have that (FRAG203). Which it was, a log cannot show."
    )


def unreadable(numbers: Numbers, surroundings: Surroundings) -> Finding:
    """REC790: the numbers that would decide are not there."""
    message = numbers.message
    needed = {
        "the request": message.request,
        "what the card had free": message.free,
        "what was allocated": message.allocated,
        "what was reserved": numbers.reserved,
    }
    absent = ", ".join(name for name, amount in needed.items() if amount is None)
    request = f" for {size(numbers.request)}" if numbers.request else ""
    cut_by_pytorch = message.releases == ("2.3",) and message.capacity is None
    reason = "PyTorch 2.3 cuts its own message behind the device" if cut_by_pytorch else "The message is cut"
    return finding(
        "REC790",
        f"A request{request} failed; this log does not show why.",
        why=f"{reason}: it does not say {absent}." if absent else f"{reason}.",
        what_to_do=surroundings.how_to_record(),
        bytes=value(numbers.request),
        measurements=measurements_of(numbers),
        confidence="unsure",
    )
